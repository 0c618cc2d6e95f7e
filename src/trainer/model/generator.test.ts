import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CopiedTensors } from './deviceTensors.testing.js';
import { createGenerator, type GeneratorOptions } from './generator.js';
import { createLearner } from './learner.js';
import { initializeParameters, type LlamaConfig } from './llamaConfig.js';
import { trainedNames, weightFeeds } from './modelWeights.js';
import type { GenerationRequest, GenerationResult, Generator } from './policy.js';
import { ResidentFeeds } from './residentFeeds.js';

const config: LlamaConfig = {
  vocabularySize: 96,
  hiddenSize: 32,
  intermediateSize: 48,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  headDim: 8,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 512,
};

/** Larger weights than a fresh model's, so that the distributions are far from uniform. */
function sharpParameters(seed: number, shape = config): Map<string, Float32Array> {
  const parameters = initializeParameters(shape, seed);
  for (const [name, values] of parameters) if (!name.includes('norm')) values.forEach((v, i) => (values[i] = v * 8));
  return parameters;
}

const prompt = (length: number, salt: number) => Int32Array.from({ length }, (_, i) => (i * 7 + salt * 13 + 5) % 96);

let sessions = 0;
const request = (tokenIds: Int32Array, more: Partial<GenerationRequest> = {}): GenerationRequest => ({
  tokenIds,
  sessionId: `session ${sessions++}`,
  maxNewTokens: 20,
  stopTokenIds: [],
  temperature: 1,
  topP: 1,
  topK: 0,
  seed: 11,
  ...more,
});

let parameters: Map<string, Float32Array>;
let generator: Generator;
const create = (more: Partial<GeneratorOptions> = {}) =>
  createGenerator({ config, parameters, device: 'cpu', slots: 8, maxContext: 400, deterministic: false, ...more });

beforeEach(async () => {
  parameters = sharpParameters(3);
  generator = await create();
});
afterEach(() => generator.dispose());

async function learnerScores(tokenIds: Int32Array, firstSampled: number, temperature: number) {
  const files = { write: () => Promise.resolve(), read: () => Promise.resolve(parameters) };
  const learner = await createLearner({ config, parameters: new Map(parameters), device: 'cpu', threads: 1, files });
  const actionMask = Uint8Array.from(tokenIds, (_, i) => (i >= firstSampled ? 1 : 0));
  const [scores] = await learner.score([{ tokenIds, actionMask }], temperature);
  await learner.dispose();
  return { logprobs: scores!.logprobs.slice(firstSampled), entropies: scores!.entropies.slice(firstSampled) };
}

function expectClose(actual: Float32Array, expected: Float32Array): void {
  expect(actual.length).toBe(expected.length);
  actual.forEach((value, i) => expect(Math.abs(value - expected[i]!)).toBeLessThan(1e-4));
}

const joined = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]));

describe('log-probabilities and entropies are those that the learner computes', () => {
  test.each([
    [5, 1],
    [64, 0.7],
    [130, 1.3],
  ])('after a prompt of %d tokens at temperature %d', async (length, temperature) => {
    const asked = request(prompt(length, 1), { temperature, maxNewTokens: 70 });
    const result = await generator.generate(asked);
    const expected = await learnerScores(joined(asked.tokenIds, result.tokenIds), length, temperature);
    expectClose(result.logprobs, expected.logprobs);
    expectClose(result.entropies, expected.entropies);
  });

  test('over several turns of a session', async () => {
    let tokens = prompt(40, 2);
    for (let turn = 0; turn < 4; turn++) {
      const result = await generator.generate(request(tokens, { sessionId: 'talk', seed: turn }));
      const expected = await learnerScores(joined(tokens, result.tokenIds), tokens.length, 1);
      expectClose(result.logprobs, expected.logprobs);
      tokens = joined(tokens, result.tokenIds, prompt(30, turn));
    }
  });

  test('where a session goes back and takes another way', async () => {
    const start = prompt(50, 1);
    await generator.generate(request(start, { sessionId: 'branch' }));
    const other = joined(start.slice(0, 33), prompt(9, 8));
    const result = await generator.generate(request(other, { sessionId: 'branch' }));
    expectClose(result.logprobs, (await learnerScores(joined(other, result.tokenIds), 42, 1)).logprobs);
  });

  test('with many requests of different lengths, and slots for a few', async () => {
    await generator.dispose();
    generator = await create({ slots: 3 });
    const asked = [3, 90, 17, 140, 64, 65, 1].map((length, i) => request(prompt(length, i), { seed: i }));
    const results = await Promise.all(asked.map((one) => generator.generate(one)));
    for (const [i, result] of results.entries()) {
      const { tokenIds } = asked[i]!;
      const expected = await learnerScores(joined(tokenIds, result.tokenIds), tokenIds.length, 1);
      expectClose(result.logprobs, expected.logprobs);
    }
  });
});

describe('a request does not depend on its neighbours', () => {
  const expectSameBits = (a: GenerationResult, b: GenerationResult) => {
    expect(a.tokenIds).toEqual(b.tokenIds);
    expect(a.logprobs).toEqual(b.logprobs);
    expect(a.entropies).toEqual(b.entropies);
  };

  test('alone and amid seven others it gives the same bits', async () => {
    const mine = prompt(70, 4);
    const alone = await generator.generate(request(mine, { maxNewTokens: 60 }));
    generator.invalidate();
    const others = [200, 3, 64, 100, 33, 250, 128].map((length, i) =>
      request(prompt(length, i + 20), { seed: i, maxNewTokens: 10 + 12 * i }),
    );
    const amid = [...others.slice(0, 4), request(mine, { maxNewTokens: 60 }), ...others.slice(4)];
    const results = await Promise.all(amid.map((one) => generator.generate(one)));
    expectSameBits(results[4]!, alone);
  });

  test('alone and amid more than the rows of one run it gives the same bits', async () => {
    // From so many columns of a weight on, kernels add up in parts, whose number may follow from that of the rows.
    const wide = { ...config, intermediateSize: 600 };
    await generator.dispose();
    generator = await create({ slots: 33, config: wide, parameters: sharpParameters(3, wide) });
    const mine = prompt(70, 4);
    const alone = await generator.generate(request(mine, { maxNewTokens: 12 }));
    for (const others of [16, 32]) {
      generator.invalidate();
      const all = Array.from({ length: others }, (_, i) =>
        request(prompt(9 + i, i + 20), { seed: i, maxNewTokens: 4 + (i % 12) }),
      );
      // It starts in the last row, whose run has no other, and moves up as others end.
      const results = await Promise.all(
        [...all, request(mine, { maxNewTokens: 12 })].map((one) => generator.generate(one)),
      );
      expectSameBits(results.at(-1)!, alone);
    }
  });

  test('with another request of the same beginning it gives the same bits', async () => {
    const mine = joined(prompt(150, 4), prompt(20, 5));
    const alone = await generator.generate(request(mine));
    generator.invalidate();
    await generator.generate(request(joined(prompt(150, 4), prompt(50, 6))));
    expectSameBits(await generator.generate(request(mine)), alone);
  });

  test('as one of a group on the same prompt, each has its own seed', async () => {
    const group = Array.from({ length: 8 }, (_, seed) => request(prompt(100, 9), { seed }));
    const results = await Promise.all(group.map((one) => generator.generate(one)));
    expect(new Set(results.map(({ tokenIds }) => tokenIds.join())).size).toBe(8);
    generator.invalidate();
    expectSameBits(await generator.generate(request(prompt(100, 9), { seed: 5 })), results[5]!);
  });

  test('in deterministic mode a second generator gives the same bits', async () => {
    const run = async () => {
      const fixed = await create({ deterministic: true });
      const asked = [30, 80, 20].map((length, i) => request(prompt(length, i), { seed: i }));
      const results = await Promise.all(asked.map((one) => fixed.generate(one)));
      await fixed.dispose();
      return results;
    };
    const [first, second] = [await run(), await run()];
    first.forEach((result, i) => expectSameBits(result, second[i]!));
  });
});

describe('a request ends', () => {
  test('at a stop token, which it includes', async () => {
    const free = await generator.generate(request(prompt(10, 1)));
    const stop = free.tokenIds[7]!;
    const at = free.tokenIds.indexOf(stop);
    const result = await generator.generate(request(prompt(10, 1), { stopTokenIds: [stop] }));
    expect(result).toMatchObject({ finishReason: 'stop', tokenIds: free.tokenIds.slice(0, at + 1) });
  });

  test('where its text says so, with the token that completed it', async () => {
    const free = await generator.generate(request(prompt(10, 1)));
    const stops = (tokenIds: readonly number[]) => tokenIds.length === 6;
    const result = await generator.generate(request(prompt(10, 1), { stops }));
    expect(result).toMatchObject({ finishReason: 'stop', tokenIds: free.tokenIds.slice(0, 6) });
    expect(result.logprobs).toEqual(free.logprobs.slice(0, 6));
  });

  test('at its limit, or where the context is full', async () => {
    const short = await generator.generate(request(prompt(10, 1), { maxNewTokens: 3 }));
    expect([short.tokenIds.length, short.finishReason]).toEqual([3, 'length']);
    const nearlyFull = await generator.generate(request(prompt(395, 1)));
    expect([nearlyFull.tokenIds.length, nearlyFull.finishReason]).toEqual([5, 'length']);
    const full = await generator.generate(request(prompt(400, 1)));
    expect([full.tokenIds.length, full.finishReason]).toEqual([0, 'length']);
  });

  test('when it is cancelled, and the others go on', async () => {
    const controller = new AbortController();
    const cancelledOne = generator.generate(request(prompt(10, 1), { maxNewTokens: 300, signal: controller.signal }));
    const other = generator.generate(request(prompt(10, 2), { maxNewTokens: 40 }));
    setTimeout(() => controller.abort(), 1);
    await expect(cancelledOne).rejects.toMatchObject({ kind: 'cancelled' });
    expect((await other).tokenIds.length).toBe(40);
  });

  test('when the generator is disposed', async () => {
    const pending = generator.generate(request(prompt(10, 1), { maxNewTokens: 300 }));
    const outcome = expect(pending).rejects.toMatchObject({ kind: 'cancelled' });
    await generator.dispose();
    await outcome;
    generator = await create();
  });
});

describe('a request that can not be served fails alone', () => {
  test.each([
    ['of no tokens', []],
    ['of tokens outside the vocabulary', [1, 96]],
    ['of negative tokens', [-1]],
  ])('a prompt %s', async (_name, tokenIds) => {
    const good = generator.generate(request(prompt(10, 1)));
    await expect(generator.generate(request(Int32Array.from(tokenIds)))).rejects.toThrow(/internal: a prompt/);
    expect((await good).tokenIds).toHaveLength(20);
  });

  test('a second one of the same session', async () => {
    const first = generator.generate(request(prompt(10, 1), { sessionId: 'mine' }));
    const second = generator.generate(request(prompt(10, 1), { sessionId: 'mine' }));
    await expect(second).rejects.toThrow(/'mine' has a request already/);
    expect((await first).tokenIds).toHaveLength(20);
  });
});

test('weights that diverged are told as such, and mended ones work again', async () => {
  const weight = parameters.get('model.norm.weight')!;
  weight[0] = NaN;
  await expect(generator.generate(request(prompt(10, 1)))).rejects.toMatchObject({ kind: 'failed' });
  weight[0] = 1;
  generator.invalidate();
  expect((await generator.generate(request(prompt(10, 1)))).tokenIds).toHaveLength(20);
});

test('changed weights count after invalidate', async () => {
  const before = await generator.generate(request(prompt(20, 1), { sessionId: 'a' }));
  for (const [name, values] of sharpParameters(4)) parameters.get(name)!.set(values);
  generator.invalidate();
  const after = await generator.generate(request(prompt(20, 1), { sessionId: 'a' }));
  expect(after.tokenIds).not.toEqual(before.tokenIds);
  const expected = await learnerScores(joined(prompt(20, 1), after.tokenIds), 20, 1);
  expectClose(after.logprobs, expected.logprobs);
});

test('weights on a device are those of the last change, and a device that refuses them fails the request alone', async () => {
  const device = new CopiedTensors();
  const model = { config, parameters, adapter: null };
  const resident = await ResidentFeeds.create(weightFeeds(model), trainedNames(model), device);
  const there = await create({ resident });
  const asked = request(prompt(20, 1), { sessionId: 'a' });
  const play = (each: Generator) => {
    each.invalidate();
    return each.generate(asked);
  };
  try {
    const before = await play(there);
    expect(before).toEqual(await play(generator));
    for (const [name, values] of sharpParameters(4)) parameters.get(name)!.set(values);
    expect(await play(there)).toEqual(before);
    resident.changed();
    device.room = 3;
    await expect(play(there)).rejects.toMatchObject({ kind: 'infrastructure', message: 'The device is full.' });
    device.room = Infinity;
    const after = await play(there);
    expect(after).toEqual(await play(generator));
    expect(after.tokenIds).not.toEqual(before.tokenIds);
    // Those that fitted at first, and then all of them once, however many tokens were sampled.
    expect(device.rewritten).toBe(3 + parameters.size);
  } finally {
    await there.dispose();
    await resident.dispose();
  }
});

test('timers are served between two tokens', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await generator.generate(request(prompt(10, 1), { maxNewTokens: 200 }));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

test('a greedy request takes the most probable token', async () => {
  const greedy = await generator.generate(request(prompt(10, 1), { temperature: 0 }));
  const topOne = await generator.generate(request(prompt(10, 1), { topK: 1 }));
  expect(greedy.tokenIds).toEqual(topOne.tokenIds);
  expect(greedy.logprobs).toEqual(topOne.logprobs);
});
