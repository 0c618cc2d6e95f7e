import { expect, describe, it } from 'vitest';
import { goldenNames, readGoldenModel } from '../../../test/support/goldenModels.js';
import { createGenerator } from './generator.js';
import { KeyValueCache } from './generatorCache.js';
import { GeneratorSession, masked } from './generatorSession.js';
import { createLearner } from './learner.js';

describe.each(goldenNames)('the generator on %s', (name) => {
  it("gives transformers' logits, of a whole prompt and of its second half after a cache of the first", async () => {
    const { config, logits, parameters, sequences } = await readGoldenModel(name);
    const session = await GeneratorSession.create(config, await parameters(), { device: 'cpu', threads: 1 });
    const [index, { tokenIds }] = [...sequences.entries()].find(([, sequence]) => sequence.tokenIds.length === 40)!;
    const cache = new KeyValueCache(config, 1, 64);
    const compute = async (start: number, end: number) => {
      const time = end - start;
      const output = await session.run({
        rows: 1,
        time,
        tokens: tokenIds.slice(start, end),
        positions: BigInt64Array.from({ length: time }, (_, place) => BigInt(start + place)),
        picks: Int32Array.from({ length: time }, (_, place) => place),
        cache,
        pastBias: new Float32Array(64).fill(masked, start),
      });
      output.layers.forEach((layer, at) => cache.write(0, start, at, layer, 0, time, time));
      return [...output.logits];
    };
    const wanted = [...logits.get(String(index))!];
    const whole = await compute(0, 40);
    expect(largestDifference(whole, wanted)).toBeLessThan(1e-4);
    expect(largestDifference([...(await compute(0, 17)), ...(await compute(17, 40))], wanted)).toBeLessThan(1e-4);
    await session.dispose();
  });

  it("records the learner's log-probabilities, over turns that go on from a cache", async () => {
    const { config, parameters } = await readGoldenModel(name);
    const weights = await parameters();
    const files = { write: () => Promise.resolve(), read: () => Promise.resolve(weights) };
    const learner = await createLearner({ config, parameters: weights, device: 'cpu', threads: 1, files });
    const common = { config, parameters: weights, device: 'cpu', slots: 2, maxContext: 64 } as const;
    const generator = await createGenerator({ ...common, deterministic: true });
    let tokens = [5, 9, 33, 2, 61, 40, 7];
    for (let turn = 0; turn < 3; turn++) {
      const request = { sessionId: 'talk', maxNewTokens: 9, stopTokenIds: [], temperature: 0.8, topP: 1, topK: 0 };
      const result = await generator.generate({ ...request, tokenIds: Int32Array.from(tokens), seed: turn });
      const tokenIds = Int32Array.from([...tokens, ...result.tokenIds]);
      const actionMask = Uint8Array.from(tokenIds, (_, place) => (place >= tokens.length ? 1 : 0));
      const [scores] = await learner.score([{ tokenIds, actionMask }], 0.8);
      const logprobs = scores!.logprobs.slice(tokens.length);
      expect(result.tokenIds.length).toBe(9);
      expect(largestDifference([...result.logprobs], [...logprobs])).toBeLessThan(1e-4);
      tokens = [...tokenIds, 3, 8, 21, 50];
    }
    await generator.dispose();
    await learner.dispose();
  });
});

function largestDifference(found: readonly number[], wanted: readonly number[]): number {
  expect(found.length).toBe(wanted.length);
  return Math.max(...found.map((value, index) => Math.abs(value - wanted[index]!)));
}
