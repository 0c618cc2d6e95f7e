import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { float32Bytes, ggufBytes } from '../../../../test/support/writeGguf.js';
import { WhetstoneError } from '../../../trajectory/errors.js';
import { loadCheckpoint, saveCheckpoint } from '../checkpoint.js';
import { createLearner } from '../learner.js';
import { ropeFrequencies } from '../rope.js';
import { readSafetensors } from '../safetensors.js';
import { GgufFile } from './ggufFile.js';
import { MalformedGguf, parseGgufHeader } from './ggufHeader.js';

const golden = join(import.meta.dirname, '../../../../test-fixtures/golden/gguf');
let root: string;
beforeAll(async () => (root = await mkdtemp(join(tmpdir(), "gguf 'é-"))));
afterAll(() => rm(root, { recursive: true }));

test("every type is dequantized to the bits of the `gguf` package's", async () => {
  const wanted = await readSafetensors(join(golden, 'quantized.safetensors'));
  await GgufFile.with(join(golden, 'quantized.gguf'), async (file) => {
    expect([...file.contents.tensors.keys()].sort()).toEqual([...wanted.keys()].sort());
    for (const [name, { shape, data }] of wanted) {
      expect(file.contents.tensors.get(name)!.shape).toEqual(shape);
      expect(await file.read(name), name).toEqual(data);
    }
  });
});

describe.each(['llama', 'qwen2', 'qwen3'] as const)('a %s of a GGUF file', (name) => {
  const file = join(golden, `${name}.gguf`);

  it('gives the log-probabilities that transformers gives, which reads the file itself', async () => {
    const { config, parameters } = await loadCheckpoint(file);
    const models = JSON.parse(await readFile(join(golden, 'models.json'), 'utf8')) as Record<string, Golden>;
    const { ids, logits } = models[name]!;
    const files = { write: () => Promise.resolve(), read: () => Promise.resolve(parameters) };
    const learner = await createLearner({ config, parameters, device: 'cpu', threads: 1, files });
    const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    for (const token of [0, 31, 64]) {
      const tokenIds = Int32Array.of(...ids, token);
      const actionMask = Uint8Array.from(tokenIds, (_, place) => (place === ids.length ? 1 : 0));
      const [scores] = await learner.score([{ tokenIds, actionMask }], 1);
      expect(Math.abs(scores!.logprobs.at(-1)! - (logits[token]! - total))).toBeLessThan(1e-4);
    }
    await learner.dispose();
  });

  it('is saved as a folder that loads with the same weights, tokenizer and template', async () => {
    const loaded = await loadCheckpoint(file);
    const folder = join(root, name);
    const { config, parameters } = loaded;
    await saveCheckpoint(folder, { config, parameters, sourceFolder: file });
    const again = await loadCheckpoint(folder);
    expect(again.parameters).toEqual(parameters);
    expect(again.config).toEqual(config);
    expect(again.codec.stopTokenIds).toEqual([66]);
    const prompt = [{ role: 'user', content: 'and <|im_end|> and' }] as const;
    expect(again.codec.promptNodes(prompt, [])).toEqual(loaded.codec.promptNodes(prompt, []));
  });
});

interface Golden {
  readonly ids: number[];
  readonly logits: number[];
}

const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i));
const tokens = [...letters, 'Ġ', 'Ċ', '<|im_start|>', '<|im_end|>'];
const metadata = {
  'general.architecture': 'llama',
  'llama.context_length': 64,
  'llama.embedding_length': 8,
  'llama.feed_forward_length': 8,
  'llama.block_count': 1,
  'llama.attention.head_count': 2,
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'smollm',
  'tokenizer.ggml.tokens': tokens,
  'tokenizer.ggml.token_type': tokens.map((token) => (token.startsWith('<|') ? 3 : 1)),
  'tokenizer.ggml.merges': ['a b', 'Ġ a'],
  'tokenizer.ggml.eos_token_id': 29,
  'tokenizer.chat_template':
    '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n',
};
type TensorTable = Parameters<typeof ggufBytes>[1];
const tensorOf = (...shape: number[]) => {
  const count = shape.reduce((product, size) => product * size, 1);
  return { shape, bytes: float32Bytes(Array.from({ length: count }, (_, i) => Math.sin(i))) };
};
const tensors: TensorTable = {
  'token_embd.weight': tensorOf(30, 8),
  'output_norm.weight': tensorOf(8),
  'blk.0.attn_norm.weight': tensorOf(8),
  'blk.0.attn_q.weight': tensorOf(8, 8),
  'blk.0.attn_k.weight': tensorOf(8, 8),
  'blk.0.attn_v.weight': tensorOf(8, 8),
  'blk.0.attn_output.weight': tensorOf(8, 8),
  'blk.0.ffn_norm.weight': tensorOf(8),
  'blk.0.ffn_gate.weight': tensorOf(8, 8),
  'blk.0.ffn_up.weight': tensorOf(8, 8),
  'blk.0.ffn_down.weight': tensorOf(8, 8),
};

let count = 0;
async function load(bytes: Uint8Array) {
  const file = join(root, `${count++}.gguf`);
  await writeFile(file, bytes);
  return loadCheckpoint(file);
}

describe('the metadata', () => {
  it("name Llama 3's scaling by divisors, which are turned back", async () => {
    const shape = { headDim: 4, ropeTheta: 10_000 };
    const bounds = { lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 };
    const scaling = { kind: 'llama3', factor: 32, ...bounds } as const;
    const plain = ropeFrequencies(shape).frequencies;
    const scaled = ropeFrequencies({ ...shape, ropeTheta: 10_000, ropeScaling: scaling }).frequencies;
    const wide = { ...shape, ropeTheta: 1e9 };
    const [far, farScaled] = [ropeFrequencies(wide), ropeFrequencies({ ...wide, ropeScaling: scaling })];
    expect([...plain].map((each, i) => each / scaled[i]!)).toEqual([1, 1]);
    const divisors = [...far.frequencies].map((each, i) => each / farScaled.frequencies[i]!);
    expect(divisors).toEqual([1, 32]);
    const withDivisors = (values: number[]) =>
      ggufBytes(
        { ...metadata, 'llama.rope.freq_base': 1e9 },
        { ...tensors, 'rope_freqs.weight': { shape: [values.length], bytes: float32Bytes(values) } },
      );
    expect((await load(withDivisors(divisors))).config.ropeScaling).toEqual(scaling);
    await expect(load(withDivisors([2, 32]))).rejects.toThrow(/'rope_freqs.weight' is not Llama 3's/);
  });

  it('say the rest of the shape', async () => {
    const scaling = { 'llama.rope.scaling.type': 'yarn', 'llama.rope.scaling.factor': 4 };
    const { config } = await load(
      ggufBytes({ ...metadata, ...scaling }, { ...tensors, 'output.weight': tensorOf(30, 8) }),
    );
    expect(config).toMatchObject({ tieEmbeddings: false, headDim: 4, ropeScaling: { kind: 'yarn', factor: 4 } });
  });
});

describe('a file that can not be used is refused in one line', () => {
  const whole = ggufBytes(metadata, tensors);
  const changed = (change: Record<string, string | number | readonly string[] | readonly number[]>) =>
    ggufBytes({ ...metadata, ...change }, tensors);
  const patched = (at: number, ...bytes: number[]) => {
    const copy = Buffer.from(whole);
    copy.set(bytes, at);
    return copy;
  };
  const without = Object.fromEntries(Object.entries(tensors).filter(([name]) => name !== 'blk.0.attn_k.weight'));
  const hugeCount = [0, 0, 0, 0, 0, 0, 0, 1];

  test.each<[string, Uint8Array, RegExp]>([
    ['empty', Buffer.alloc(0), /truncated/],
    ['safetensors by another name', Buffer.from('{"a":1}   '.repeat(99)), /does not start with GGUF/],
    ['of version 1', patched(4, 1, 0, 0, 0), /its version is 1/],
    ['big-endian', patched(4, 0, 0, 0, 3), /it is big-endian/],
    ['with 2^56 tensors', patched(8, ...hugeCount), /claims 72057594037927936 tensors|number of tensors is/],
    ['with 2^56 entries', patched(16, ...hugeCount), /number of entries is 72057594037927936|claims/],
    ['with a key of 2^56 bytes', patched(24, ...hugeCount), /the length of a key is 72057594037927936|long/],
    ['cut in its header', whole.subarray(0, 300), /truncated: its header goes on/],
    ['cut in its data', whole.subarray(0, -40), /truncated: 'blk\.0\.ffn_down\.weight' ends at byte/],
    ['of another kind', changed({ 'general.architecture': 'mamba' }), /architecture is 'mamba', supported are llama,/],
    [
      'of a hostile kind',
      changed({ 'general.architecture': 'a\n'.repeat(5000) }),
      /architecture is 'a\\na\\n.{0,300}$/,
    ],
    ['with experts', changed({ 'llama.expert_count': 8 }), /llama\.expert_count is not supported/],
    ['with a number for a name', changed({ 'general.architecture': 7 }), /'general\.architecture' is not text/],
    ['with a name for a number', changed({ 'llama.block_count': 'x' }), /'llama\.block_count' is not a whole number/],
    ['with four thousand million layers', changed({ 'llama.block_count': 4e9 }), /block_count is 4000000000/],
    ['with no heads', changed({ 'llama.attention.head_count': 0 }), /head_count is 0/],
    [
      'with heads that do not fit',
      changed({ 'llama.attention.head_count': 3 }),
      /3 heads do not share 8 numbers evenly/,
    ],
    [
      'with heads of thousands of millions, and divisors for them',
      ggufBytes(
        { ...metadata, 'llama.attention.key_length': 2 ** 31, 'llama.attention.value_length': 2 ** 31 },
        { ...tensors, 'rope_freqs.weight': tensorOf(2) },
      ),
      /a head would be 2147483648 wide/,
    ],
    ['with another scaling', changed({ 'llama.rope.scaling.type': 'longrope' }), /rope scaling 'longrope'/],
    [
      'with more elements in its lists than any tokenizer',
      changed(Object.fromEntries([1, 2, 3].map((i) => [`x${i}`, Array<number>(1_500_000).fill(1.5)]))),
      /it claims 1500000 elements of 'x3', more than \d+/,
    ],
    ['with an alignment of 0', changed({ 'general.alignment': 0 }), /alignment is no multiple of 8/],
    ['with a SentencePiece tokenizer', changed({ 'tokenizer.ggml.model': 'llama' }), /tokenizer is 'llama', supported/],
    ['with another pre-tokenizer', changed({ 'tokenizer.ggml.pre': 'constructor' }), /cuts text as 'constructor'/],
    ['with too few kinds of tokens', changed({ 'tokenizer.ggml.token_type': [1] }), /30 tokens and 1 kinds/],
    ['with a merge of one part', changed({ 'tokenizer.ggml.merges': ['ab'] }), /has the merge 'ab'/],
    ['with an end that is no token', changed({ 'tokenizer.ggml.eos_token_id': 99 }), /its eos token is 99 of 30/],
    ['with a missing tensor', ggufBytes(metadata, without), /'blk\.0\.attn_k\.weight' is missing/],
    [
      'with a bias that others lack',
      ggufBytes(metadata, { ...tensors, 'blk.0.attn_q.bias': tensorOf(8) }),
      /there is no tensor 'blk\.0\.attn_q\.bias' in this kind/,
    ],
    ['with an unknown tensor', ggufBytes(metadata, { ...tensors, x: tensorOf(8) }), /there is no tensor 'x'/],
    [
      'with a tensor of another shape',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': tensorOf(9) }),
      /'output_norm\.weight' is \[9\] and should be \[8\]/,
    ],
    [
      'with an offset outside of the file',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), offset: 2 ** 40 } }),
      /truncated: 'output_norm\.weight' ends at byte/,
    ],
    [
      'with an offset inside of another tensor',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), offset: 32 } }),
      /overlaps the tensor before it/,
    ],
    [
      'with an odd offset',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), offset: 5 } }),
      /no multiple of the alignment/,
    ],
    [
      'with a type that is not read',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), type: 13 } }),
      /is Q5_K; only F32, F16, Q4_0/,
    ],
    [
      'with rows that are no whole blocks',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), type: 2 } }),
      /is 8 long, no multiple of 32/,
    ],
    [
      'with a tensor of 2^52 numbers',
      ggufBytes(metadata, { ...tensors, 'output_norm.weight': { ...tensorOf(8), shape: [2 ** 26, 2 ** 26] } }),
      /truncated/,
    ],
    [
      'with a number that is none',
      ggufBytes(metadata, {
        ...tensors,
        'output_norm.weight': { shape: [8], bytes: float32Bytes(Array(8).fill(NaN)) },
      }),
      /it holds NaN in 'output_norm\.weight'/,
    ],
  ])('%s', async (_name, bytes, pattern) => {
    const failure = await load(bytes).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(WhetstoneError);
    expect(failure).toMatchObject({ kind: 'bad-input' });
    expect((failure as WhetstoneError).line).toMatch(pattern);
    expect((failure as WhetstoneError).line).not.toContain('\n');
  });

  it('whatever bytes of its header are changed or cut, it loads or is refused', async () => {
    const place = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    const damage = fc.record({ places: fc.array(place, { minLength: 1, maxLength: 4 }), length: fc.nat(whole.length) });
    await fc.assert(
      fc.asyncProperty(damage, fc.boolean(), async ({ places, length }, cut) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte } of places) bytes[at] = byte;
        const result = await load(cut ? bytes.subarray(0, length) : bytes).catch((error: unknown) => error);
        if (result instanceof Error) expect(result, String(result.stack)).toBeInstanceOf(WhetstoneError);
      }),
      { numRuns: 150 },
    );
  });

  it('its parser reads no byte after those it was given, whatever they are', () => {
    const start = Buffer.from(whole.subarray(0, 24));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (tail) => {
        const bytes = Buffer.concat([start, tail]);
        try {
          expect(parseGgufHeader(bytes)).toBeNull();
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedGguf);
        }
      }),
    );
  });
});
