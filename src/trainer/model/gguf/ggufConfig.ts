import type { LlamaConfig, ModelType } from '../llamaConfig.js';
import { modelConfigJson } from '../config.js';
import { ropeFrequencies, type RopeScaling } from '../rope.js';
import type { GgufContents } from './ggufFile.js';
import { MalformedGguf } from './ggufHeader.js';
import { quoted } from '../quoted.js';

/** llama.cpp's names of the kinds that are read. Mistral's models of this kind call themselves llama. */
const architectures: Readonly<Record<string, ModelType>> = {
  llama: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  smollm3: 'smollm3',
};

const largestSize = 1 << 20;

/** Reads a typed value of the metadata; throws MalformedGguf where it is missing or of another type. */
export class Metadata {
  constructor(private readonly values: GgufContents['metadata']) {}

  text(key: string): string | undefined {
    return this.typed(key, (value) => typeof value === 'string', 'text');
  }

  number(key: string): number | undefined {
    return this.typed(key, (value) => typeof value === 'number' && Number.isFinite(value), 'a number');
  }

  whole(key: string): number | undefined {
    return this.typed(key, (value) => Number.isSafeInteger(value), 'a whole number');
  }

  texts(key: string): readonly string[] | undefined {
    return this.typed(key, (value) => isListOf(value, 'string'), 'a list of text');
  }

  numbers(key: string): readonly number[] | undefined {
    return this.typed(key, (value) => isListOf(value, 'number'), 'a list of numbers');
  }

  private typed<T>(key: string, accepts: (value: unknown) => boolean, what: string): T | undefined {
    const value: unknown = this.values.get(key);
    if (value === undefined) return undefined;
    if (!accepts(value)) throw new MalformedGguf(`${quoted(key)} is not ${what}`);
    return value as T;
  }
}

const isListOf = (value: unknown, type: string): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === type);

/**
 * The config.json of the model in a GGUF file, as Hugging Face would write it; `ropeDivisors` are the numbers of
 * `rope_freqs.weight`, which stand for Llama 3's scaling. Throws MalformedGguf for what is not supported, by name.
 */
export function ggufConfigJson(
  { metadata, tensors }: GgufContents,
  ropeDivisors: Float32Array | null,
): Record<string, unknown> {
  const read = new Metadata(metadata);
  const architecture = read.text('general.architecture') ?? '';
  const modelType = Object.hasOwn(architectures, architecture) ? architectures[architecture] : undefined;
  if (modelType === undefined) {
    const supported = Object.keys(architectures).join(', ');
    throw new MalformedGguf(`its architecture is ${quoted(architecture)}, supported are ${supported}`);
  }
  const key = (name: string) => `${architecture}.${name}`;
  const wanted = (name: string) => {
    const value = read.whole(key(name));
    if (value === undefined || value < 1 || value > largestSize)
      throw new MalformedGguf(`${key(name)} is ${value ?? 'missing'}`);
    return value;
  };
  const refuseKey = (name: string) => {
    if ((read.number(key(name)) ?? 0) > 0) throw new MalformedGguf(`${key(name)} is not supported`);
  };
  refuseKey('expert_count');
  refuseKey('attention.sliding_window');
  const embedding = tensors.get('token_embd.weight');
  if (embedding === undefined) throw new MalformedGguf(`'token_embd.weight' is missing`);
  const [hiddenSize, heads, layers] = [
    wanted('embedding_length'),
    wanted('attention.head_count'),
    wanted('block_count'),
  ];
  const headDim = read.whole(key('attention.key_length')) ?? hiddenSize / heads;
  if (!Number.isInteger(headDim)) throw new MalformedGguf(`${heads} heads do not share ${hiddenSize} numbers evenly`);
  if (headDim < 1 || headDim > largestSize) throw new MalformedGguf(`a head would be ${headDim} wide`);
  if ((read.whole(key('attention.value_length')) ?? headDim) !== headDim)
    throw new MalformedGguf('values of another width than keys are not supported');
  if ((read.whole(key('rope.dimension_count')) ?? headDim) !== headDim)
    throw new MalformedGguf('positions that turn only a part of a head are not supported');
  const has = (name: string) => tensors.has(`blk.0.${name}.bias`);
  const biases = { queryKeyValue: has('attn_q'), output: has('attn_output'), mlp: has('ffn_up') };
  const positions = wanted('context_length');
  const ropeTheta = read.number(key('rope.freq_base')) ?? 10_000;
  const ropeScaling = scalingOf(read, key, positions) ?? llama3Scaling({ headDim, ropeTheta }, ropeDivisors);
  const config: LlamaConfig = {
    modelType,
    vocabularySize: embedding.shape[0]!,
    hiddenSize,
    intermediateSize: wanted('feed_forward_length'),
    layers,
    heads,
    keyValueHeads: read.whole(key('attention.head_count_kv')) ?? heads,
    headDim,
    ropeTheta,
    ...(ropeScaling ? { ropeScaling } : {}),
    ...(Object.values(biases).includes(true) ? { biases } : {}),
    // llama.cpp knows no other than every fourth.
    ...(modelType === 'smollm3' ? { layersWithoutRope: everyFourth(layers) } : {}),
    rmsEpsilon: shortest(read.number(key('attention.layer_norm_rms_epsilon')) ?? 1e-6),
    tieEmbeddings: !tensors.has('output.weight'),
    maxPositions: positions,
  };
  const id = (name: string) => read.whole(`tokenizer.ggml.${name}_token_id`) ?? null;
  return { ...modelConfigJson(config), bos_token_id: id('bos'), eos_token_id: id('eos') };
}

const everyFourth = (layers: number): number[] => [...Array(layers).keys()].filter((layer) => layer % 4 === 3);

/** The decimal number that a float32 was made from: 9.999999747378752e-6 is 1e-5. */
const shortest = (value: number): number => Number(value.toPrecision(7));

function scalingOf(read: Metadata, key: (name: string) => string, positions: number): RopeScaling | undefined {
  const kind = read.text(key('rope.scaling.type')) ?? 'none';
  if (kind === 'none') return undefined;
  const factor = shortest(read.number(key('rope.scaling.factor')) ?? 1);
  if (factor <= 0) throw new MalformedGguf(`${key('rope.scaling.factor')} is ${factor}`);
  if (kind === 'linear') return { kind, factor };
  if (kind !== 'yarn') throw new MalformedGguf(`the rope scaling ${quoted(kind)} is not supported`);
  return {
    kind,
    factor,
    attentionFactor: (read.number(key('rope.scaling.attn_factor')) ?? 1) * (0.1 * Math.log(Math.max(1, factor)) + 1),
    betaFast: 32,
    betaSlow: 1,
    originalPositions: read.whole(key('rope.scaling.original_context_length')) ?? positions,
    truncate: true,
  };
}

/** llama.cpp's converter writes Llama 3's scaling as a divisor for each pair; its parameters are found again by trial. */
function llama3Scaling(
  shape: { readonly headDim: number; readonly ropeTheta: number },
  divisors: Float32Array | null,
): RopeScaling | undefined {
  if (divisors === null) return undefined;
  const factor = shortest(divisors.at(-1) ?? 1);
  const bounds = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 };
  const scaling = { kind: 'llama3', factor, ...bounds } as const;
  const plain = ropeFrequencies(shape).frequencies;
  const scaled = ropeFrequencies({ ...shape, ropeScaling: scaling }).frequencies;
  const fits =
    divisors.length === plain.length &&
    divisors.every((divisor, i) => Math.abs(plain[i]! / divisor / scaled[i]! - 1) < 1e-4);
  if (!fits) throw new MalformedGguf("its 'rope_freqs.weight' is not Llama 3's, which alone is supported");
  return scaling;
}
