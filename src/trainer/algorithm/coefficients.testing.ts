import fc from 'fast-check';
import { expect } from 'vitest';
import type { PolicyTrajectory } from './policyGradient.js';

const step = 1e-5;

/**
 * Holds coefficients against central differences of the loss written out: relative 1e-5, absolute 1e-7. Where the mask is 0
 * they must be exactly 0.
 * @param loss as a function of all log-probabilities, in double precision
 * @param nearKink true where the loss has no derivative by this token
 */
export function expectSlopes(
  coefficients: Float32Array,
  values: Float32Array,
  actionMask: Uint8Array,
  loss: (values: readonly number[]) => number,
  nearKink: (t: number) => boolean = () => false,
): void {
  const point = [...values];
  point.forEach((value, t) => {
    if (actionMask[t] === 0) expect(coefficients[t]).toBe(0);
    if (actionMask[t] === 0 || nearKink(t)) return;
    const slope = (loss(point.with(t, value + step)) - loss(point.with(t, value - step))) / (2 * step);
    expect(Math.abs(coefficients[t] - slope)).toBeLessThanOrEqual(1e-5 * Math.abs(slope) + 1e-7);
  });
}

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true });

/**
 * Log-probabilities of one sequence under several policies, with a random mask (one token at least); where it is 0 all of
 * them are NaN, so that a look at them shows.
 */
export const arbitraryTokens = fc
  .array(
    fc.record({
      masked: fc.boolean(),
      logprob: between(-5, -0.05),
      drift: between(-0.6, 0.6),
      away: between(-1, 1),
      sampler: between(-0.5, 0.5),
      advantage: between(-2, 2),
      entropy: between(0, 3),
    }),
    { minLength: 1, maxLength: 10 },
  )
  .map((tokens) => {
    const actionMask = Uint8Array.from(tokens, ({ masked }, t) => (masked && t > 0 ? 0 : 1));
    const array = (value: (token: (typeof tokens)[number]) => number) =>
      Float32Array.from(tokens, (token, t) => (actionMask[t] === 0 ? NaN : value(token)));
    return {
      actionMask,
      logprobs: array(({ logprob }) => logprob),
      oldLogprobs: array(({ logprob, drift }) => logprob + drift),
      referenceLogprobs: array(({ logprob, away }) => logprob + away),
      samplerLogprobs: array(({ logprob, drift, sampler }) => logprob + drift + sampler),
      entropies: array(({ entropy }) => entropy),
      advantages: Float64Array.from(array(({ advantage }) => advantage)),
    };
  });

/** A trajectory for a policy-gradient loss, with one advantage or one a token. */
export const arbitraryPolicyTrajectory: fc.Arbitrary<PolicyTrajectory> = fc
  .tuple(arbitraryTokens, fc.option(between(-2, 2)))
  .map(([{ advantages, ...tokens }, advantage]) => ({
    ...tokens,
    advantage: advantage ?? advantages,
    equalRewards: false,
  }));

/** A trajectory's own sum over the tokens of its mask. */
export const sumOver = (actionMask: Uint8Array, term: (t: number) => number) =>
  actionMask.reduce((sum, bit, t) => (bit === 0 ? sum : sum + term(t)), 0);
