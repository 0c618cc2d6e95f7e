import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import type { LlamaConfig } from './llamaConfig.js';

const size = (maximum: number) => z.int().positive().max(maximum);

/** The fields of a Hugging Face config.json that decide what a Llama model computes, with that library's defaults. */
const llamaSchema = z.looseObject({
  model_type: z.string(),
  vocab_size: size(1 << 22),
  hidden_size: size(1 << 16),
  intermediate_size: size(1 << 18),
  num_hidden_layers: size(1 << 10),
  num_attention_heads: size(1 << 10),
  num_key_value_heads: size(1 << 10).nullish(),
  head_dim: size(1 << 10).nullish(),
  rms_norm_eps: z.number().positive().default(1e-6),
  rope_theta: z.number().positive().nullish(),
  rope_scaling: z.looseObject({}).nullish(),
  rope_parameters: z.looseObject({ rope_theta: z.number().positive().optional() }).nullish(),
  partial_rotary_factor: z.number().nullish(),
  max_position_embeddings: size(1 << 20).default(2048),
  tie_word_embeddings: z.boolean().default(false),
  hidden_act: z.string().default('silu'),
  attention_bias: z.boolean().default(false),
  mlp_bias: z.boolean().default(false),
  quantization_config: z.unknown().optional(),
});

/** Reads a parsed config.json; `where` names it in errors. What this program can not compute is refused by name. */
export function parseModelConfig(json: unknown, where: string): LlamaConfig {
  const refuse = (reason: string) =>
    badInput(`Cannot use the model of '${where}': ${reason}.`, 'Use a Llama-shaped model in Hugging Face layout.');
  const modelType = typeof json === 'object' && json !== null && 'model_type' in json ? json.model_type : undefined;
  if (modelType !== 'llama') throw refuse(`its model_type is ${JSON.stringify(modelType)}, supported is "llama"`);
  const parsed = llamaSchema.safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw refuse(`${issue.path.join('.')}: ${issue.message}`);
  }
  const fields = parsed.data;
  const unsupported: readonly (readonly [string, boolean])[] = [
    ['hidden_act other than silu', fields.hidden_act !== 'silu'],
    ['attention_bias', fields.attention_bias],
    ['mlp_bias', fields.mlp_bias],
    ['quantization_config', fields.quantization_config !== undefined && fields.quantization_config !== null],
    ['rope_scaling', isScaled(fields.rope_scaling) || isScaled(fields.rope_parameters)],
    ['partial_rotary_factor', (fields.partial_rotary_factor ?? 1) !== 1],
  ];
  for (const [name, present] of unsupported) if (present) throw refuse(`${name} is not supported`);

  const heads = fields.num_attention_heads;
  const keyValueHeads = fields.num_key_value_heads ?? heads;
  const headDim = fields.head_dim ?? fields.hidden_size / heads;
  if (!Number.isInteger(headDim) || headDim % 2 !== 0)
    throw refuse(`a head would be ${headDim} wide, not an even number`);
  if (heads % keyValueHeads !== 0)
    throw refuse(`num_key_value_heads ${keyValueHeads} does not divide num_attention_heads ${heads}`);
  return {
    vocabularySize: fields.vocab_size,
    hiddenSize: fields.hidden_size,
    intermediateSize: fields.intermediate_size,
    layers: fields.num_hidden_layers,
    heads,
    keyValueHeads,
    headDim,
    ropeTheta: fields.rope_theta ?? fields.rope_parameters?.rope_theta ?? 10_000,
    rmsEpsilon: fields.rms_norm_eps,
    tieEmbeddings: fields.tie_word_embeddings,
    maxPositions: fields.max_position_embeddings,
  };
}

/** A config.json that `parseModelConfig` and Hugging Face's LlamaForCausalLM read back. */
export function modelConfigJson(config: LlamaConfig): Record<string, unknown> {
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: config.vocabularySize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headDim,
    rms_norm_eps: config.rmsEpsilon,
    rope_theta: config.ropeTheta,
    max_position_embeddings: config.maxPositions,
    tie_word_embeddings: config.tieEmbeddings,
    hidden_act: 'silu',
    attention_bias: false,
    mlp_bias: false,
  };
}

/** Whether rotary positions are stretched, under the old key (`type`) or the new one (`rope_type`). */
function isScaled(rope: Readonly<Record<string, unknown>> | null | undefined): boolean {
  const type = rope?.rope_type ?? rope?.type;
  return type !== undefined && type !== 'default';
}
