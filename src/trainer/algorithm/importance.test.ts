import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTokens, sumOver } from './coefficients.testing.js';
import { importanceWeights, type ImportanceCorrection } from './importance.js';

const corrections: ImportanceCorrection[] = ['token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask'];
const bounds = { low: 0.8, high: 1.25 };

describe('importance weights between sampler and learner', () => {
  it('are the hand-computed ones', () => {
    const mask = Uint8Array.of(1, 0, 1);
    const [old, sampler] = [Float32Array.of(-1, NaN, -1), Float32Array.of(-1.5, NaN, -0.875)];
    const weights = (name: ImportanceCorrection) => [...importanceWeights(name, mask, old, sampler, bounds)];
    expect(weights('token-truncate')).toEqual([1.25, 0, Math.exp(-0.125)]);
    expect(weights('token-mask')).toEqual([0, 0, Math.exp(-0.125)]);
    // The sequence's ratio is exp(0.5 - 0.125) = 1.45.
    expect(weights('sequence-truncate')).toEqual([1.25, 0, 1.25]);
    expect(weights('sequence-mask')).toEqual([0, 0, 0]);
    const wide = importanceWeights('sequence-mask', mask, old, sampler, { low: 0, high: 2 });
    expect([...wide]).toEqual([Math.exp(0.375), 0, Math.exp(0.375)]);
  });

  it.each(corrections)('are 1 where sampler and learner agree, whatever is masked: %s', (name) => {
    fc.assert(
      fc.property(arbitraryTokens, ({ actionMask, oldLogprobs }) => {
        expect([...importanceWeights(name, actionMask, oldLogprobs, oldLogprobs, bounds)]).toEqual([...actionMask]);
      }),
    );
  });

  it('by the sequence are the product of those by the token, where nothing is cut', () => {
    fc.assert(
      fc.property(arbitraryTokens, ({ actionMask, oldLogprobs, samplerLogprobs }) => {
        const of = (name: ImportanceCorrection) =>
          importanceWeights(name, actionMask, oldLogprobs, samplerLogprobs, { low: 0, high: Infinity });
        const product = Math.exp(sumOver(actionMask, (t) => Math.log(of('token-truncate')[t])));
        of('sequence-truncate').forEach((weight, t) => expect(weight).toBeCloseTo(actionMask[t] * product, 6));
      }),
    );
  });
});
