import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTokens, expectSlopes, sumOver } from './coefficients.testing.js';
import { dpoCoefficients } from './dpo.js';
import { ipoCoefficients } from './ipo.js';
import { ktoCoefficients, ktoReferencePoint } from './kto.js';
import { orpoCoefficients } from './orpo.js';
import { preferencePairs } from './preferencePairs.js';
import type { Pair, PairGradient, ReferencedSequence } from './scoredSequence.js';
import { simpoCoefficients } from './simpo.js';

type Now = readonly number[];
type Referenced = Pair<ReferencedSequence>;

const sum = (one: ReferencedSequence, now: Now) => sumOver(one.actionMask, (t) => now[t]);
const mean = (one: ReferencedSequence, now: Now) => sum(one, now) / sumOver(one.actionMask, () => 1);
const ratio = (one: ReferencedSequence, now: Now) => sumOver(one.actionMask, (t) => now[t] - one.referenceLogprobs[t]);
const logistic = (x: number) => Math.log(1 + Math.exp(-x));
const logOdds = (logprob: number) => Math.log(Math.exp(logprob) / (1 - Math.exp(logprob)));

/** Each loss, and the same as its paper writes it. */
const losses: Record<
  string,
  [of: (pair: Referenced) => PairGradient, written: (pair: Referenced, c: Now, r: Now) => number]
> = {
  dpo: [
    (pair) => dpoCoefficients(pair, { beta: 0.3, pairs: 3 }),
    ({ chosen, rejected }, c, r) => logistic(0.3 * (ratio(chosen, c) - ratio(rejected, r))) / 3,
  ],
  ipo: [
    (pair) => ipoCoefficients(pair, { beta: 0.4, pairs: 3 }),
    ({ chosen, rejected }, c, r) => {
      const perToken = (one: ReferencedSequence, now: Now) => ratio(one, now) / sumOver(one.actionMask, () => 1);
      return (perToken(chosen, c) - perToken(rejected, r) - 1 / 0.8) ** 2 / 3;
    },
  ],
  simpo: [
    (pair) => simpoCoefficients(pair, { beta: 2, gamma: 0.5, pairs: 3 }),
    ({ chosen, rejected }, c, r) => logistic(2 * (mean(chosen, c) - mean(rejected, r)) - 0.5) / 3,
  ],
  orpo: [
    (pair) => orpoCoefficients(pair, { lambda: 0.1, pairs: 3 }),
    ({ chosen, rejected }, c, r) =>
      (-mean(chosen, c) + 0.1 * logistic(logOdds(mean(chosen, c)) - logOdds(mean(rejected, r)))) / 3,
  ],
};

interface GoldenCase {
  readonly value: number;
  readonly gradient: number[][];
}
const golden = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'preferenceLosses.json'), 'utf8'),
) as Record<string, GoldenCase> & {
  readonly mask: number[][];
  readonly logprobs: number[][];
  readonly referenceLogprobs: number[][];
  readonly mismatched: { logprobs: number[][]; referenceLogprobs: number[][] };
};
const sequenceOf = (index: number, from: { logprobs: number[][]; referenceLogprobs: number[][] }) => ({
  actionMask: Uint8Array.from(golden.mask[index]),
  logprobs: Float32Array.from(from.logprobs[index]),
  referenceLogprobs: Float32Array.from(from.referenceLogprobs[index]),
});
const expectGolden = (found: readonly { coefficients: Float32Array; loss: number }[], name: string) => {
  expect(found.reduce((total, { loss }) => total + loss, 0)).toBeCloseTo(golden[name].value, 6);
  found.forEach(({ coefficients }, i) =>
    coefficients.forEach((value, t) => expect(value).toBeCloseTo(golden[name].gradient[i][t], 6)),
  );
};

describe.each(Object.keys(losses))('the coefficients of %s', (name) => {
  const [of, written] = losses[name];

  it('are central differences of the written-out loss, on both sides of the pair', () => {
    fc.assert(
      fc.property(arbitraryTokens, arbitraryTokens, (chosen, rejected) => {
        const pair = { chosen, rejected };
        const [c, r] = [[...chosen.logprobs], [...rejected.logprobs]];
        const found = of(pair);
        expect(found.loss).toBeCloseTo(written(pair, c, r), 8);
        expectSlopes(found.chosen, chosen.logprobs, chosen.actionMask, (now) => written(pair, now, r));
        expectSlopes(found.rejected, rejected.logprobs, rejected.actionMask, (now) => written(pair, c, now));
      }),
    );
  });

  it("equal TRL's (scripts/golden/preference_losses.py)", () => {
    const pairs = [0, 1, 2].map((i) => of({ chosen: sequenceOf(i, golden), rejected: sequenceOf(i + 3, golden) }));
    expectGolden(
      [
        ...pairs.map(({ chosen, loss }) => ({ coefficients: chosen, loss })),
        ...pairs.map(({ rejected }) => ({ coefficients: rejected, loss: 0 })),
      ],
      name,
    );
  });

  it('stay finite where the policy is as sure as can be, either way', () => {
    const sure = (logprob: number) => ({
      actionMask: Uint8Array.of(1, 1),
      logprobs: Float32Array.of(logprob, logprob),
      referenceLogprobs: Float32Array.of(-1, -1),
    });
    for (const [better, worse] of [
      [0, 0],
      [0, -800],
      [-800, 0],
      [-800, -800],
    ]) {
      const { chosen, rejected, loss } = of({ chosen: sure(better), rejected: sure(worse) });
      expect([...chosen, ...rejected, loss].every(Number.isFinite)).toBe(true);
    }
  });
});

describe('the coefficients of KTO', () => {
  const options = { beta: 0.3, desirableWeight: 1, undesirableWeight: 1.3, trajectories: 6 };

  it('are central differences of the written-out loss, for good and bad ones', () => {
    fc.assert(
      fc.property(arbitraryTokens, fc.boolean(), fc.constantFrom(0, 0.7), (one, desirable, referencePoint) => {
        const written = (now: Now) => {
          const u = 0.3 * (ratio(one, now) - referencePoint);
          return desirable ? (1 - 1 / (1 + Math.exp(-u))) / 6 : (1.3 * (1 - 1 / (1 + Math.exp(u)))) / 6;
        };
        const { coefficients, loss } = ktoCoefficients(one, desirable, { ...options, referencePoint });
        expect(loss).toBeCloseTo(written([...one.logprobs]), 8);
        expectSlopes(coefficients, one.logprobs, one.actionMask, written);
      }),
    );
  });

  it("equal TRL's", () => {
    const mismatched = golden.mask.map((_, i) => sequenceOf(i, golden.mismatched));
    const referencePoint = ktoReferencePoint(mismatched);
    expect(referencePoint).toBeGreaterThan(0);
    expectGolden(
      golden.mask.map((_, i) => ktoCoefficients(sequenceOf(i, golden), i < 3, { ...options, referencePoint })),
      'kto',
    );
  });

  it('have a reference point that is never below 0', () => {
    const { logprobs, referenceLogprobs, actionMask } = sequenceOf(0, golden.mismatched);
    expect(ktoReferencePoint([{ actionMask, logprobs: referenceLogprobs, referenceLogprobs: logprobs }])).toBe(0);
    expect(ktoReferencePoint([])).toBe(0);
  });
});

describe('preference pairs', () => {
  it('are all of a better and a worse rollout, none in a group of equal rewards, none with a failed one', () => {
    expect(preferencePairs([1, 0, null, 0.5])).toEqual([
      { chosen: 0, rejected: 1 },
      { chosen: 0, rejected: 3 },
      { chosen: 3, rejected: 1 },
    ]);
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.nat(8), (reward, size) => {
        expect(preferencePairs(new Array<number>(size).fill(reward))).toEqual([]);
      }),
    );
  });
});
