import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { goldenNames } from '../../../test/support/goldenModels.js';
import { modelConfigJson, parseModelConfig } from './config.js';

const base = {
  model_type: 'llama',
  vocab_size: 67,
  hidden_size: 16,
  intermediate_size: 20,
  num_hidden_layers: 4,
  num_attention_heads: 4,
};
const parse = (change: Record<string, unknown> = {}) => parseModelConfig({ ...base, ...change }, 'config.json');

describe('config.json', () => {
  test.each(goldenNames)('of %s can be written and read back', async (name) => {
    const folder = join(import.meta.dirname, '../../../test-fixtures/golden', name);
    const config = parseModelConfig(JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')), folder);
    expect(parseModelConfig(modelConfigJson(config), 'written')).toEqual(config);
  });

  test('means the same in the old form and in that of transformers 5', () => {
    const scaling = { factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 512 };
    const old = parse({ rope_theta: 500_000, rope_scaling: { type: 'llama3', ...scaling } });
    expect(parse({ rope_parameters: { rope_type: 'llama3', rope_theta: 500_000, ...scaling } })).toEqual(old);
    expect(old).toMatchObject({ ropeTheta: 500_000, ropeScaling: { kind: 'llama3', factor: 8 } });
  });

  test('of dynamic scaling needs nothing, since it changes nothing up to max_position_embeddings', () => {
    expect(parse({ rope_scaling: { type: 'dynamic', factor: 4 } })).toEqual(parse());
  });

  test('gives YaRN the attention factor of its paper, or that of mscale and mscale_all_dim', () => {
    const yarn = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 512 };
    const found = (more: object) => parse({ rope_parameters: { ...yarn, ...more } }).ropeScaling;
    expect(found({})).toMatchObject({ attentionFactor: 0.1 * Math.log(4) + 1, betaFast: 32, betaSlow: 1 });
    expect(found({ mscale: 1, mscale_all_dim: 1 })).toMatchObject({ attentionFactor: 1 });
    expect(found({ attention_factor: 1.5 })).toMatchObject({ attentionFactor: 1.5 });
  });

  test('says which layers slide and which do not turn', () => {
    const slides = { use_sliding_window: true, sliding_window: 8 };
    const windowOf = (more: object) => parse({ head_dim: 4, ...more }).slidingWindow;
    expect(windowOf({ model_type: 'qwen2', ...slides, max_window_layers: 2 })).toEqual({ tokens: 8, layers: [2, 3] });
    expect(windowOf({ model_type: 'qwen2', sliding_window: 8, max_window_layers: 2 })).toBeUndefined();
    expect(windowOf({ model_type: 'mistral', num_key_value_heads: 2, sliding_window: null })).toBeUndefined();
    expect(windowOf({ model_type: 'mistral', num_key_value_heads: 2, sliding_window: 9 })?.layers).toEqual([
      0, 1, 2, 3,
    ]);
    expect(windowOf({ model_type: 'smollm3', ...slides })?.layers).toEqual([3]);
    expect(parse({ model_type: 'smollm3' })).toMatchObject({ layersWithoutRope: [3], tieEmbeddings: true });
    expect(parse({ model_type: 'smollm3', no_rope_layers: [0, 1, 1, 0] }).layersWithoutRope).toEqual([0, 3]);
  });

  test('never asks for tables of more than 65,536 positions', () => {
    expect(parse({ max_position_embeddings: 1 << 20 }).maxPositions).toBe(65_536);
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [{ model_type: 'mamba' }, /model_type is "mamba", supported are "llama", "mistral", "qwen2", "qwen3", "smollm3"/],
    [{ model_type: 'x'.repeat(1000) }, /^.{0,250}$/],
    [{ rope_scaling: { rope_type: 'longrope', factor: 4 } }, /rope_type "longrope" is not supported/],
    [{ rope_scaling: { type: 'linear' } }, /rope_type linear without factor is not supported/],
    [{ rope_parameters: { full_attention: { rope_theta: 1e4 } } }, /by kind of layer \(full_attention\) is not/],
    [{ partial_rotary_factor: 0.5 }, /partial_rotary_factor is not supported/],
    [{ rope_parameters: { partial_rotary_factor: 0.5 } }, /partial_rotary_factor is not supported/],
    [{ hidden_act: 'gelu' }, /hidden_act other than silu is not supported/],
    [{ quantization_config: { bits: 4 } }, /quantization_config is not supported/],
    [{ layer_types: ['full_attention'] }, /layer_types names 1 layers of 4/],
    [{ layer_types: Array(4).fill('linear_attention') }, /the layer type "linear_attention" is not supported/],
    [{ num_key_value_heads: 3 }, /num_key_value_heads 3 does not divide/],
    [{ head_dim: 3 }, /3 wide, not an even number/],
    [{ rope_theta: -1 }, /rope_theta: /],
    [{ num_hidden_layers: 1e9 }, /num_hidden_layers: /],
  ])('with %j is refused by name', (change, pattern) => {
    expect(() => parse(change)).toThrow(pattern);
  });
});
