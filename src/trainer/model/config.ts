import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { listOf } from '../firstFault.js';
import { type LlamaConfig, type ModelType, modelTypes } from './llamaConfig.js';
import { parseRope, ropeFields, ropeJson } from './rope.js';

const size = (maximum: number) => z.int().positive().max(maximum);

/**
 * Longer sequences than this are not computed, whatever a model could: the tables of rotary positions grow with it, and a
 * step over so many tokens fits no machine that this is made for.
 */
const longestSequence = 1 << 16;

/** The fields of a Hugging Face config.json that decide what a model computes, with that library's defaults. */
const configSchema = z.looseObject({
  model_type: z.enum(modelTypes),
  vocab_size: size(1 << 22),
  hidden_size: size(1 << 16),
  intermediate_size: size(1 << 18),
  num_hidden_layers: size(1 << 10),
  num_attention_heads: size(1 << 10),
  num_key_value_heads: size(1 << 10).nullish(),
  head_dim: size(1 << 10).nullish(),
  rms_norm_eps: z.number().positive().default(1e-6),
  ...ropeFields,
  max_position_embeddings: size(1 << 30).nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  hidden_act: z.string().default('silu'),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  sliding_window: z.int().positive().nullish(),
  use_sliding_window: z.boolean().default(false),
  max_window_layers: z.int().nonnegative().default(28),
  layer_types: listOf(z.string()).nullish(),
  no_rope_layers: listOf(z.union([z.literal(0), z.literal(1)])).nullish(),
  no_rope_layer_interval: z.int().positive().default(4),
  quantization_config: z.unknown().optional(),
});

type Fields = z.infer<typeof configSchema>;

/** What a kind's config.json means where it leaves a field out. */
const defaults: Readonly<
  Record<ModelType, { readonly positions: number; readonly theta?: number; readonly tied?: boolean }>
> = {
  llama: { positions: 2048 },
  mistral: { positions: 131_072 },
  qwen2: { positions: 32_768 },
  qwen3: { positions: 32_768 },
  smollm3: { positions: 32_768, theta: 2_000_000, tied: true },
};

/** Reads a parsed config.json; `where` names it in errors. What this program can not compute is refused by name. */
export function parseModelConfig(json: unknown, where: string): LlamaConfig {
  const refuse = (reason: Said) =>
    badInput(say`Cannot use the model of '${where}': ${reason}.`, 'Use a Llama-shaped model in Hugging Face layout.');
  const unsupported = (name: Said | string) => refuse(say`${name} is not supported`);
  const named = typeof json === 'object' && json !== null && 'model_type' in json ? json.model_type : undefined;
  if (!modelTypes.some((each) => each === named)) {
    const supported = modelTypes.map((each) => `"${each}"`).join(', ');
    throw refuse(say`its model_type is ${shown(named)}, supported are ${supported}`);
  }
  const parsed = configSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw refuse(say`${issue.path.join('.')}: ${issue.message}`);
  }
  const fields = parsed.data;
  if (fields.hidden_act !== 'silu') throw unsupported(say`hidden_act other than silu`);
  if (fields.quantization_config != null) throw unsupported('quantization_config');

  const { model_type: modelType, num_attention_heads: heads, num_hidden_layers: layers } = fields;
  const keyValueHeads = fields.num_key_value_heads ?? (modelType === 'mistral' ? 8 : heads);
  const headDim = fields.head_dim ?? (modelType === 'qwen3' ? 128 : fields.hidden_size / heads);
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw refuse(say`a head would be ${headDim} wide, not an even number`);
  if (heads % keyValueHeads !== 0)
    throw refuse(say`num_key_value_heads ${keyValueHeads} does not divide num_attention_heads ${heads}`);
  for (const [name, list] of Object.entries({ layer_types: fields.layer_types, no_rope_layers: fields.no_rope_layers }))
    if (list && list.length !== layers) throw refuse(say`${name} names ${list.length} layers of ${layers}`);
  for (const kind of fields.layer_types ?? [])
    if (kind !== 'full_attention' && kind !== 'sliding_attention')
      throw unsupported(say`the layer type ${shown(kind)}`);

  const positions = fields.max_position_embeddings ?? defaults[modelType].positions;
  const withPositions = { ...fields, max_position_embeddings: positions };
  return {
    ...(modelType === 'llama' ? {} : { modelType }),
    vocabularySize: fields.vocab_size,
    hiddenSize: fields.hidden_size,
    intermediateSize: fields.intermediate_size,
    layers,
    heads,
    keyValueHeads,
    headDim,
    ...biasesOf(fields),
    ...(modelType === 'qwen3' ? { queryKeyNorm: true } : {}),
    ...parseRope(withPositions, defaults[modelType].theta ?? 10_000, unsupported),
    ...layersWithoutRope(fields),
    ...slidingWindow(fields, positions),
    rmsEpsilon: fields.rms_norm_eps,
    tieEmbeddings: fields.tie_word_embeddings ?? defaults[modelType].tied ?? false,
    maxPositions: Math.min(positions, longestSequence),
  };
}

/** A config.json that `parseModelConfig` and Hugging Face's classes read back. */
export function modelConfigJson(config: LlamaConfig): Record<string, unknown> {
  const modelType = config.modelType ?? 'llama';
  const { biases, slidingWindow: window, layersWithoutRope: unturned = [] } = config;
  const byLayer = <T>(chosen: readonly number[], yes: T, no: T) =>
    Array.from({ length: config.layers }, (_, layer) => (chosen.includes(layer) ? yes : no));
  return {
    architectures: [architectures[modelType]],
    model_type: modelType,
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headDim,
    rms_norm_eps: config.rmsEpsilon,
    rope_theta: config.ropeTheta,
    rope_parameters: ropeJson(config),
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.tieEmbeddings,
    hidden_act: 'silu',
    attention_bias: biases?.output ?? false,
    mlp_bias: biases?.mlp ?? false,
    ...(modelType === 'smollm3' ? { no_rope_layers: byLayer(unturned, 0, 1) } : {}),
    ...(modelType === 'mistral' ? { sliding_window: window?.tokens ?? null } : {}),
    ...(hasLayerTypes(modelType)
      ? {
          use_sliding_window: window !== undefined,
          sliding_window: window?.tokens ?? null,
          layer_types: byLayer(window?.layers ?? [], 'sliding_attention', 'full_attention'),
        }
      : {}),
  };
}

const architectures: Readonly<Record<ModelType, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
};

/** Llama and Mistral treat all layers alike. */
const hasLayerTypes = (modelType: ModelType): boolean => modelType !== 'llama' && modelType !== 'mistral';

function biasesOf({ model_type, attention_bias, mlp_bias }: Fields): Pick<LlamaConfig, 'biases'> {
  // Mistral's and Qwen2's code do not look at these fields.
  if (model_type === 'mistral') return {};
  if (model_type === 'qwen2') return { biases: { queryKeyValue: true, output: false, mlp: false } };
  const mlp = mlp_bias && model_type !== 'qwen3';
  return attention_bias || mlp ? { biases: { queryKeyValue: attention_bias, output: attention_bias, mlp } } : {};
}

function layersWithoutRope(fields: Fields): Pick<LlamaConfig, 'layersWithoutRope'> {
  if (fields.model_type !== 'smollm3') return {};
  const layers = layersWhere(fields, (layer) => !turnsInSmollm3(fields, layer));
  return layers.length > 0 ? { layersWithoutRope: layers } : {};
}

const turnsInSmollm3 = (fields: Fields, layer: number): boolean =>
  fields.no_rope_layers ? fields.no_rope_layers[layer] === 1 : (layer + 1) % fields.no_rope_layer_interval !== 0;

function slidingWindow(fields: Fields, positions: number): Pick<LlamaConfig, 'slidingWindow'> {
  const kind = fields.model_type;
  // Their schema's default, where the field is left out; null says that there is none.
  const tokens = fields.sliding_window === undefined && kind !== 'smollm3' ? 4096 : fields.sliding_window;
  if (kind === 'llama' || tokens == null || tokens >= positions) return {};
  if (hasLayerTypes(kind) && !fields.use_sliding_window) return {};
  const slides = (layer: number): boolean => {
    if (kind === 'mistral') return true;
    if (fields.layer_types) return fields.layer_types[layer] === 'sliding_attention';
    return kind === 'smollm3' ? !turnsInSmollm3(fields, layer) : layer >= fields.max_window_layers;
  };
  const layers = layersWhere(fields, slides);
  return layers.length > 0 ? { slidingWindow: { tokens, layers } } : {};
}

function layersWhere({ num_hidden_layers }: Fields, holds: (layer: number) => boolean): number[] {
  return [...Array(num_hidden_layers).keys()].filter(holds);
}

/** A value of an untrusted file, short and on one line. */
function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? 'not there';
  return json.length > 40 ? `${json.slice(0, 40)}…` : json;
}
