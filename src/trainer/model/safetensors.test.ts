import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import { narrowToBfloat16, narrowToFloat16, widenBfloat16, widenFloat16 } from './halfFloats.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "safe 'tensors ü-"));
  path = join(folder, 'model.safetensors');
});
afterEach(() => rm(folder, { recursive: true }));

const tensors = () =>
  new Map([
    ['a.weight', { shape: [2, 3], data: Float32Array.of(1, -2, 0.5, 1e-3, 65504, -0) }],
    ['scalar', { shape: [], data: Float32Array.of(7) }],
    ['empty', { shape: [0, 4], data: new Float32Array(0) }],
  ]);

/** A file with the given header object (or text) and `dataBytes` bytes of data. */
async function writeRaw(header: unknown, dataBytes: number): Promise<void> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  await writeFile(path, Buffer.concat([length, json, Buffer.alloc(dataBytes)]));
}

const rejects = (pattern: RegExp) =>
  expect(readSafetensors(path)).rejects.toMatchObject({
    kind: 'bad-input',
    line: expect.stringMatching(pattern) as string,
  });

describe('a written file', () => {
  test('reads back bit for bit in F32, with its metadata and nothing left beside it', async () => {
    await writeSafetensors(path, tensors(), { metadata: { step: '3' } });
    const read = await readSafetensors(path);
    expect([...read.keys()]).toEqual(['a.weight', 'scalar', 'empty']);
    for (const [name, { shape, data }] of tensors()) expect(read.get(name)).toEqual({ dtype: 'F32', shape, data });
    expect((await readSafetensorsHeader(path)).metadata).toEqual({ format: 'pt', step: '3' });
    expect(await readdir(folder)).toEqual(['model.safetensors']);
  });

  test('starts its data at a multiple of 8 bytes', async () => {
    await writeSafetensors(path, tensors());
    expect((await readSafetensorsHeader(path)).tensors.get('a.weight')!.begin % 8).toBe(0);
  });

  test.each(['F16', 'BF16'] as const)('keeps what %s can hold', async (dtype) => {
    const data = Float32Array.of(1, -2, 0.5, 0, -0, Infinity);
    await writeSafetensors(path, new Map([['x', { shape: [6], data }]]), { dtype });
    expect((await readSafetensors(path)).get('x')).toEqual({ dtype, shape: [6], data });
  });

  test('is left as it was where a new one can not be written', async () => {
    await writeSafetensors(path, tensors());
    const before = await readFile(path);
    const wrong = new Map([['x', { shape: [3], data: new Float32Array(2) }]]);
    await expect(writeSafetensors(path, wrong)).rejects.toThrow(/internal/);
    await expect(writeSafetensors(join(folder, 'no', 'such'), tensors())).rejects.toMatchObject({ kind: 'bad-input' });
    expect(await readFile(path)).toEqual(before);
  });
});

describe('a damaged file is refused in one line', () => {
  test('truncated anywhere', async () => {
    await writeSafetensors(path, tensors());
    const whole = await readFile(path);
    for (const bytes of [0, 5, 8, 40, whole.length - 1]) {
      await writeFile(path, whole);
      await truncate(path, bytes);
      await rejects(/^Cannot read '.*model\.safetensors': .*Fetch or save the file again\.$/);
    }
  });
  test('a header that claims 2 GB', async () => {
    const bytes = Buffer.alloc(64);
    bytes.writeBigUInt64LE(2n ** 31n);
    await writeFile(path, bytes);
    await rejects(/header claims 2147483648 bytes/);
  });
  test('a header that claims more than any number', async () => {
    await writeFile(path, Buffer.alloc(64, 0xff));
    await rejects(/header claims/);
  });
  test("Git LFS's pointer to it", async () => {
    await writeFile(path, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n');
    await rejects(/it is Git LFS's pointer/);
  });
  test('a header that is nested without end', async () => {
    await writeRaw(`{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`, 0);
    await rejects(/its header is nested more than 200 deep/);
  });
  test('absent, or a folder', async () => {
    await rejects(/ENOENT/);
    path = folder;
    await rejects(/it is a folder, a device or a pipe/);
  });
  test.each<[string, unknown, number, RegExp]>([
    ['no JSON', '{"a":', 0, /not JSON/],
    ['a list', [], 0, /not a JSON object/],
    ['offsets out of range', { a: { dtype: 'F32', shape: [4], data_offsets: [0, 16] } }, 8, /truncated/],
    ['offsets backwards', { a: { dtype: 'F32', shape: [2], data_offsets: [8, 0] } }, 8, /needs 8 bytes and has -8/],
    ['a negative offset', { a: { dtype: 'F32', shape: [2], data_offsets: [-8, 0] } }, 8, /malformed/],
    ['a shape that does not fit', { a: { dtype: 'F32', shape: [3], data_offsets: [0, 8] } }, 8, /needs 12 bytes/],
    ['a fractional shape', { a: { dtype: 'F32', shape: [0.5], data_offsets: [0, 2] } }, 2, /malformed/],
    ['a shape without bound', { a: { dtype: 'F32', shape: [1e15, 1e15], data_offsets: [0, 8] } }, 8, /needs 4e\+30/],
    ['an unknown dtype', { a: { dtype: 'F99', shape: [2], data_offsets: [0, 8] } }, 8, /unknown dtype 'F99'/],
    ['integers', { a: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } }, 8, /is I64; only F32/],
    ['bytes of no tensor', { a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] } }, 9, /1 bytes belong to no tensor/],
    ['a hole', { a: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }, 8, /leaves a hole/],
    ['metadata of numbers', { __metadata__: { a: 1 } }, 0, /__metadata__/],
  ])('%s', async (_name, header, dataBytes, pattern) => {
    await writeRaw(header, dataBytes);
    await rejects(pattern);
  });
  test('a name or a shape of a megabyte is told in short', async () => {
    const entry = { dtype: 'F32', shape: [...Array<number>(100_000).fill(1), 2], data_offsets: [0, 4] };
    await writeRaw({ ['long\n'.repeat(200_000)]: entry }, 4);
    const failure: unknown = await readSafetensors(path).catch((error: unknown) => error);
    expect((failure as WhetstoneError).line.length).toBeLessThan(400);
  });

  test('whatever bytes of it are changed, it is read or refused', async () => {
    await writeSafetensors(path, new Map([['a', { shape: [2, 2], data: Float32Array.of(1, 2, 3, 4) }]]));
    const whole = await readFile(path);
    const place = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 1, maxLength: 4 }), fc.nat(whole.length), async (places, cut) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte } of places) bytes[at] = byte;
        await writeFile(path, cut % 3 === 0 ? bytes.subarray(0, cut) : bytes);
        const result = await readSafetensors(path).catch((error: unknown) => error);
        if (result instanceof Error) expect(result, String(result.stack)).toBeInstanceOf(WhetstoneError);
      }),
      { numRuns: 150 },
    );
  });

  test('tensors that overlap', async () => {
    const entry = (begin: number) => ({ dtype: 'F32', shape: [2], data_offsets: [begin, begin + 8] });
    await writeRaw({ a: entry(0), b: entry(4) }, 12);
    await rejects(/'b' overlaps/);
  });
});

describe('16-bit floats', () => {
  const everyPattern = Uint16Array.from({ length: 65536 }, (_, i) => i);
  test.each([
    ['F16', widenFloat16, narrowToFloat16],
    ['BF16', widenBfloat16, narrowToBfloat16],
  ] as const)('every %s value survives widening and narrowing', (_name, widen, narrow) => {
    const wide = widen(everyPattern);
    const back = narrow(wide);
    for (let i = 0; i < 65536; i++) if (!Number.isNaN(wide[i]!)) expect(back[i]).toBe(i);
    expect(Number.isNaN(widen(narrow(Float32Array.of(NaN)))[0])).toBe(true);
  });
  test.each([
    ['F16', widenFloat16, narrowToFloat16, 2 ** -11, 2 ** -25],
    ['BF16', widenBfloat16, narrowToBfloat16, 2 ** -8, 2 ** -134],
  ] as const)('narrowing to %s rounds to nearest', (_name, widen, narrow, relative, absolute) => {
    fc.assert(
      fc.property(fc.float({ min: -60000, max: 60000, noNaN: true }), (value) => {
        const rounded = widen(narrow(Float32Array.of(value)))[0]!;
        expect(Math.abs(rounded - value)).toBeLessThanOrEqual(Math.max(Math.abs(value) * relative, absolute));
      }),
    );
  });
  test('ties go to even, and what is too large becomes infinite', () => {
    expect(widenFloat16(narrowToFloat16(Float32Array.of(2049, 2051, 65519, 65520, -1e9)))).toEqual(
      Float32Array.of(2048, 2052, 65504, Infinity, -Infinity),
    );
    expect(widenBfloat16(narrowToBfloat16(Float32Array.of(257, 259)))).toEqual(Float32Array.of(256, 260));
  });
});
