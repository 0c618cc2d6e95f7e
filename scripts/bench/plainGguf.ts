import { ggufBytes, type GgufValue } from '../../test/support/writeGguf.js';
import { ggufName } from '../../src/trainer/model/gguf/ggufWeights.js';
import { parameterShapes, type LlamaConfig } from '../../src/trainer/model/llamaConfig.js';

/** What a GGUF file says of its model's text: the keys `tokenizer.*`. */
type TextMetadata = Readonly<Record<`tokenizer.${string}`, GgufValue>>;

/** A made-up vocabulary: the text of a token is its id, `<7>`. */
const numbered = (vocabularySize: number): TextMetadata => ({
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'smollm',
  'tokenizer.ggml.tokens': Array.from({ length: vocabularySize }, (_, id) => `<${id}>`),
  'tokenizer.ggml.merges': ['< 1'],
});

/** A model of the kind `llama` as a GGUF file in float32, for llama.cpp to generate with. */
export function plainGguf(
  config: LlamaConfig,
  parameters: ReadonlyMap<string, Float32Array>,
  text: TextMetadata = numbered(config.vocabularySize),
): Buffer {
  const metadata = {
    'general.architecture': 'llama',
    'general.file_type': 0,
    'llama.vocab_size': config.vocabularySize,
    'llama.context_length': config.maxPositions,
    'llama.embedding_length': config.hiddenSize,
    'llama.feed_forward_length': config.intermediateSize,
    'llama.block_count': config.layers,
    'llama.attention.head_count': config.heads,
    'llama.attention.head_count_kv': config.keyValueHeads,
    'llama.attention.key_length': config.headDim,
    'llama.attention.value_length': config.headDim,
    'llama.attention.layer_norm_rms_epsilon': { float32: config.rmsEpsilon },
    'llama.rope.dimension_count': config.headDim,
    'llama.rope.freq_base': { float32: config.ropeTheta },
    ...text,
  };
  const tensors = [...parameterShapes(config)].map(([name, shape]) => {
    const { buffer, byteOffset, byteLength } = neighboursTurned(name, parameters.get(name)!, config);
    return [ggufName(name), { shape, bytes: new Uint8Array(buffer, byteOffset, byteLength) }] as const;
  });
  return ggufBytes(metadata, Object.fromEntries(tensors));
}

/**
 * Rows of the query and key projections in the order of llama.cpp, which turns neighbouring numbers of a head where Hugging Face
 * turns those half a head apart: of each head [2, d/2] -> [d/2, 2].
 */
function neighboursTurned(name: string, values: Float32Array, { headDim, hiddenSize }: LlamaConfig): Float32Array {
  if (!/\.[qk]_proj\./.test(name)) return values;
  const ordered = new Float32Array(values.length);
  for (let row = 0; row * hiddenSize < values.length; row++) {
    const [head, place] = [Math.floor(row / headDim), row % headDim];
    const to = head * headDim + 2 * (place % (headDim / 2)) + Math.floor((2 * place) / headDim);
    ordered.set(values.subarray(row * hiddenSize, (row + 1) * hiddenSize), to * hiddenSize);
  }
  return ordered;
}
