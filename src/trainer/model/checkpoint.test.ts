import { execFileSync } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { trainByteLevelBpe } from '../text/bpe/trainByteLevelBpe.js';
import { chatTokens, writeTokenizerFiles } from '../text/bpe/writeTokenizerFiles.js';
import { loadCheckpoint, saveCheckpoint } from './checkpoint.js';
import { initializeParameters, type LlamaConfig } from './llamaConfig.js';
import { readSafetensors, writeSafetensors } from './safetensors.js';

const config: LlamaConfig = {
  vocabularySize: 288,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headDim: 4,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 64,
};
const parameters = initializeParameters(config, 1);

let root: string;
let folder: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "check 'point é-"));
  folder = join(root, 'model');
  const text = join(root, 'text');
  const tokenizer = trainByteLevelBpe(['function add(a, b) { return a + b; }\n'.repeat(9)], {
    vocabularySize: 275,
    specialTokens: chatTokens,
  });
  await writeTokenizerFiles(text, tokenizer);
  await saveCheckpoint(folder, { config, parameters, sourceFolder: text });
});
afterEach(() => rm(root, { recursive: true }));

const weights = () => join(folder, 'model.safetensors');
const refusal = async (pattern: RegExp) => {
  const line = expect.stringMatching(pattern) as string;
  await expect(loadCheckpoint(folder)).rejects.toMatchObject({ kind: 'bad-input', exitCode: 2, line });
};
async function changeJson(name: string, change: Record<string, unknown>): Promise<void> {
  const path = join(folder, name);
  const json = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, JSON.stringify({ ...json, ...change }));
}

describe('a saved checkpoint', () => {
  test('loads with the same config and the same bits', async () => {
    const loaded = await loadCheckpoint(folder);
    expect(loaded.config).toEqual(config);
    expect(loaded.parameters).toEqual(parameters);
    expect(loaded.codec.stopTokenIds).toEqual([2]);
    expect(loaded.codec.vocabularySize).toBe(275);
  });

  test('can be saved again elsewhere with its text side, as bfloat16', async () => {
    const again = join(root, 'again');
    await saveCheckpoint(again, { config, parameters, sourceFolder: folder, dtype: 'BF16' });
    const loaded = await loadCheckpoint(again);
    expect(loaded.rawConfig.torch_dtype).toBe('bfloat16');
    const name = 'model.norm.weight';
    expect(loaded.parameters.get(name)).toEqual(parameters.get(name));
  });

  test('loads from shards', async () => {
    const tensors = [...(await readSafetensors(weights()))];
    const shards = { 'a.safetensors': tensors.slice(0, 5), 'b.safetensors': tensors.slice(5) };
    const weightMap: Record<string, string> = {};
    for (const [file, part] of Object.entries(shards)) {
      await writeSafetensors(join(folder, file), new Map(part));
      for (const [name] of part) weightMap[name] = file;
    }
    await rm(weights());
    const index = join(folder, 'model.safetensors.index.json');
    await writeFile(index, JSON.stringify({ weight_map: weightMap }));
    expect((await loadCheckpoint(folder)).parameters).toEqual(parameters);
    await writeFile(index, JSON.stringify({ weight_map: { x: '../../etc/passwd' } }));
    await refusal(/does not name files beside it/);
  });
});

describe('a model that can not be used is refused in one line', () => {
  test('no folder', async () => {
    folder = join(root, 'nowhere');
    await refusal(/^There is no model folder '.*nowhere'\. Give `embedded`/);
  });
  test('no weights, truncated weights', async () => {
    await truncate(weights(), 5000);
    await refusal(/model\.safetensors': it is truncated/);
    await rm(weights());
    await refusal(/has no model\.safetensors/);
  });
  test('a file that is no JSON', async () => {
    await truncate(join(folder, 'tokenizer.json'), 100);
    await refusal(/tokenizer\.json' is not whole JSON/);
  });
  test('a missing tokenizer', async () => {
    await rename(join(folder, 'tokenizer.json'), join(folder, 'gone'));
    await refusal(/Cannot read '.*tokenizer\.json'/);
  });
  test.each<[Record<string, unknown>, RegExp]>([
    [{ model_type: 'mamba' }, /model_type is "mamba", supported are "llama", /],
    [{ hidden_size: 'wide' }, /hidden_size: /],
    [{ num_hidden_layers: 1e9 }, /num_hidden_layers: /],
    [{ attention_bias: true }, /'model\.layers\.0\.self_attn\.q_proj\.bias' is missing/],
    [{ hidden_act: 'gelu' }, /hidden_act other than silu is not supported/],
    [{ rope_scaling: { type: 'longrope' } }, /rope_type "longrope" is not supported/],
    [{ quantization_config: { bits: 4 } }, /quantization_config is not supported/],
    [{ num_key_value_heads: 3 }, /num_key_value_heads 3 does not divide/],
    [{ head_dim: 3 }, /3 wide, not an even number/],
    [{ intermediate_size: 25 }, /gate_proj\.weight' is \[24, 16\] and should be \[25, 16\]/],
    [{ num_hidden_layers: 3 }, /'model\.layers\.2\.input_layernorm\.weight' is missing/],
    [{ num_hidden_layers: 1 }, /there is no parameter 'model\.layers\.1\./],
    [{ tie_word_embeddings: false }, /'lm_head\.weight' is missing/],
    [{ vocab_size: 270 }, /tokenizer of '.*' has the id 274, its model only 270 tokens/],
    [{ vocab_size: 1 << 22, hidden_size: 1 << 16 }, /need \d+\.\d GiB, and this machine has \d+\.\d GiB of memory/],
  ])('config.json with %j', async (change, pattern) => {
    await changeJson('config.json', change);
    await refusal(pattern);
  });
  test('a parameter in two shards', async () => {
    for (const file of ['a.safetensors', 'b.safetensors']) await copyFile(weights(), join(folder, file));
    await rm(weights());
    const weightMap = { x: 'a.safetensors', y: 'b.safetensors' };
    await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
    await refusal(/b\.safetensors' do not fit config\.json: '.*' is in 'a\.safetensors' too/);
  });
  test('files whose lists have millions of faults, or that are nested ever deeper', async () => {
    const hostile = async (name: string, json: string, pattern: RegExp) => {
      await rename(join(folder, name), join(root, name));
      await writeFile(join(folder, name), json);
      await refusal(pattern);
      await rename(join(root, name), join(folder, name));
    };
    const nulls = `[${'0,'.repeat(3_000_000)}0]`;
    await hostile('tokenizer.json', `{"added_tokens": ${nulls}}`, /added_tokens\.0: /);
    await hostile('tokenizer.json', `{"x": ${'['.repeat(1e6)}${']'.repeat(1e6)}}`, /nested more than 200 deep/);
    const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as object;
    const layers = JSON.stringify(config).replace('{', `{"layer_types": ${nulls}, `);
    await hostile('config.json', layers, /layer_types\.0: /);
  });
  test('links to what has no end, and pipes that nobody writes to', async () => {
    const replaced = async (name: string, make: (place: string) => unknown) => {
      await rename(join(folder, name), join(root, name));
      await make(join(folder, name));
      await refusal(new RegExp(`Cannot read '.*${name}': it is a folder, a device or a pipe`));
      await rm(join(folder, name));
      await rename(join(root, name), join(folder, name));
    };
    await replaced('config.json', (place) => symlink('/dev/zero', place));
    await replaced('tokenizer.json', (place) => execFileSync('mkfifo', [place]));
    await replaced('model.safetensors', (place) => execFileSync('mkfifo', [place]));
  });
  test('weights that are not finite', async () => {
    const tensors = await readSafetensors(weights());
    tensors.get('model.norm.weight')!.data[3] = NaN;
    await writeSafetensors(weights(), tensors);
    await refusal(/hold NaN in 'model\.norm\.weight'/);
  });
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no chat template', { chat_template: undefined }, /has no chat template/],
    ['a template that does not parse', { chat_template: '{% for %}' }, /chat template in '.*' does not parse/],
    ['a template that always throws', { chat_template: "{{ raise_exception('no') }}" }, /does not render/],
    [
      'a template that complains at length',
      { chat_template: "{{ raise_exception('no ' ~ (range(90000) | join(' '))) }}" },
      /^.{1,1700}$/,
    ],
    [
      'a template without tools',
      { chat_template: '{{ messages[1].content }}<|im_end|>' },
      /leaves out what tools answer/,
    ],
    [
      'a template that ends no turn',
      { chat_template: '{% for m in messages %}{{ m.content }} {% endfor %}' },
      /does not end an assistant's turn/,
    ],
  ])('%s', async (_name, change, pattern) => {
    await changeJson('tokenizer_config.json', change);
    await refusal(pattern);
  });
  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a tokenizer of another kind',
      { model: { type: 'Unigram', vocab: [] } },
      /Cannot use the tokenizer .* model\.type/,
    ],
    ['a tokenizer that is not byte-level', { decoder: { type: 'Metaspace' } }, /not ByteLevel/],
    [
      'a tokenizer with ids beyond any',
      { added_tokens: [{ id: 2 ** 40, content: 'x', special: true }] },
      /added_tokens\.0\.id/,
    ],
    ['a tokenizer without letters', { model: { type: 'BPE', vocab: { x: 1 }, merges: [] } }, /has no token for 'a'/],
    [
      'a tokenizer with negative ids',
      { added_tokens: [{ id: -1, content: 'x', special: true }] },
      /added_tokens\.0\.id/,
    ],
  ])('%s', async (_name, change, pattern) => {
    await changeJson('tokenizer.json', change);
    await refusal(pattern);
  });
});
