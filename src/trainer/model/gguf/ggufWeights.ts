import { firstNotFinite } from '../finite.js';
import {
  embeddingParameter,
  finalNormParameter,
  headParameter,
  type LlamaConfig,
  parameterShapes,
} from '../llamaConfig.js';
import type { GgufFile } from './ggufFile.js';
import { MalformedGguf } from './ggufHeader.js';
import { quoted } from '../quoted.js';

/** llama.cpp's names of what stands outside the layers, and of a layer's parts. */
const outside: Readonly<Record<string, string>> = {
  [embeddingParameter]: 'token_embd.weight',
  [finalNormParameter]: 'output_norm.weight',
  [headParameter]: 'output.weight',
};
const inLayer: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

export const ropeDivisorsName = 'rope_freqs.weight';

/** The name that llama.cpp gives a parameter that is here named as by Hugging Face. */
export function ggufName(parameter: string): string {
  const known = outside[parameter];
  if (known !== undefined) return known;
  const [, layer, part, kind] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(parameter) ?? [];
  const named = inLayer[part ?? ''];
  if (named === undefined) throw new Error(`internal: llama.cpp has no name for ${parameter}`);
  return `blk.${layer}.${named}.${kind}`;
}

/** Reads every parameter as float32, by Hugging Face's names. All shapes are checked before anything large is read. */
export async function readGgufWeights(file: GgufFile, config: LlamaConfig): Promise<Map<string, Float32Array>> {
  const { tensors } = file.contents;
  const shapes = parameterShapes(config);
  const names = new Map([...shapes.keys()].map((parameter) => [ggufName(parameter), parameter]));
  for (const [name, parameter] of names) {
    const shape = tensors.get(name)?.shape;
    const wanted = shapes.get(parameter)!;
    if (shape === undefined) throw new MalformedGguf(`${quoted(name)} is missing`);
    if (shape.join() !== wanted.join())
      throw new MalformedGguf(`${quoted(name)} is [${shape.join(', ')}] and should be [${wanted.join(', ')}]`);
  }
  for (const name of tensors.keys())
    if (!names.has(name) && name !== ropeDivisorsName)
      throw new MalformedGguf(`there is no tensor ${quoted(name)} in this kind of model`);
  const parameters = new Map<string, Float32Array>();
  for (const [name, parameter] of names) {
    const values = await file.read(name);
    const culprit = firstNotFinite(values);
    if (culprit !== undefined) throw new MalformedGguf(`it holds ${culprit} in ${quoted(name)}`);
    parameters.set(parameter, isInterleaved(config) ? halvesFirst(parameter, values, config) : values);
  }
  return parameters;
}

/** Of these kinds llama.cpp turns neighbouring numbers of a head, where Hugging Face turns those half a head apart. */
const isInterleaved = ({ modelType }: LlamaConfig): boolean => modelType !== 'qwen2' && modelType !== 'qwen3';

/** Rows of the query and key projections in Hugging Face's order: of each head [d/2, 2] -> [2, d/2]. */
function halvesFirst(parameter: string, values: Float32Array, config: LlamaConfig): Float32Array {
  const { headDim } = config;
  const heads = /\.q_proj\./.test(parameter) ? config.heads : /\.k_proj\./.test(parameter) ? config.keyValueHeads : 0;
  if (heads === 0) return values;
  const width = values.length / (heads * headDim);
  const ordered = new Float32Array(values.length);
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < headDim; row++) {
      const to = head * headDim + (row % 2) * (headDim / 2) + (row >> 1);
      const from = (head * headDim + row) * width;
      ordered.set(values.subarray(from, from + width), to * width);
    }
  return ordered;
}
