import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTokens, expectSlopes, sumOver } from './coefficients.testing.js';
import { generalizedAdvantages } from './gae.js';
import { valueCoefficients, type ValueTrajectory } from './valueLoss.js';
import { vtrace, type VtraceOptions } from './vtrace.js';
import { whiten } from './whiten.js';

interface Golden {
  readonly rewards: number[];
  readonly mask: number[][];
  readonly penalties: number[][];
  readonly gae: { gamma: number; lambda: number; values: number[][]; whitened: number[][]; returns: number[][] };
  readonly value: {
    clip: number;
    predicted: number[][];
    returns: number[][];
    loss: number;
    gradient: number[][];
    clippedFraction: number;
  };
}

const { advantages: golden } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'policyLosses.json'), 'utf8'),
) as { advantages: Golden };
const masks = golden.mask.map((mask) => Uint8Array.from(mask));
const unit = fc.double({ min: 0, max: 1, noNaN: true });

/** Arrays of arbitrary tokens under the names that a critic gives them. */
const arbitraryValues = arbitraryTokens.map((tokens) => ({
  actionMask: tokens.actionMask,
  rewards: tokens.advantages,
  values: tokens.logprobs,
  oldValues: tokens.oldLogprobs,
  returns: tokens.referenceLogprobs,
  logRatios: tokens.advantages.map((value) => value / 2),
}));

describe('generalized advantages', () => {
  it("equal verl's, whitened, and so do the returns", () => {
    const results = golden.rewards.map((reward, i) => {
      const rewards = golden.penalties[i].map((penalty) => -penalty);
      rewards[rewards.length - 1] += reward;
      return generalizedAdvantages(rewards, golden.gae.values[i], masks[i], golden.gae);
    });
    const advantages = whiten(
      results.map((each) => each.advantages),
      masks,
    );
    results.forEach(({ returns }, i) =>
      returns.forEach((value, t) => {
        expect(advantages[i][t]).toBeCloseTo(golden.gae.whitened[i][t], 7);
        if (masks[i][t] === 1) expect(value).toBeCloseTo(golden.gae.returns[i][t], 7);
      }),
    );
  });

  it('are discounted sums of differences, over actions alone', () => {
    fc.assert(
      fc.property(arbitraryValues, unit, unit, (one, gamma, lambda) => {
        const { advantages, returns } = generalizedAdvantages(
          one.rewards,
          one.values,
          one.actionMask,
          { gamma, lambda },
          2,
        );
        const actions = [...one.actionMask.keys()].filter((t) => one.actionMask[t] === 1);
        const deltas = actions.map(
          (t, k) => one.rewards[t] + gamma * (k + 1 < actions.length ? one.values[actions[k + 1]] : 2) - one.values[t],
        );
        actions.forEach((t, k) => {
          const sum = deltas.slice(k).reduce((total, delta, j) => total + (gamma * lambda) ** j * delta, 0);
          expect(advantages[t]).toBeCloseTo(sum, 8);
          expect(returns[t]).toBeCloseTo(sum + one.values[t], 8);
        });
        expect(
          sumOver(
            one.actionMask.map((bit) => 1 - bit),
            (t) => Math.abs(advantages[t]) + Math.abs(returns[t]),
          ),
        ).toBe(0);
      }),
    );
  });
});

describe("PPO's clipped value loss", () => {
  const written = (one: ValueTrajectory, now: readonly number[], clip: number, tokens: number) =>
    sumOver(one.actionMask, (t) => {
      const cut = Math.min(Math.max(now[t], one.oldValues[t] - clip), one.oldValues[t] + clip);
      return Math.max((now[t] - one.returns[t]) ** 2, (cut - one.returns[t]) ** 2) / 2 / tokens;
    });

  it('has the slopes of the loss written out, and never looks at masked tokens', () => {
    fc.assert(
      fc.property(arbitraryValues, fc.constantFrom(0.1, 0.3), (one, clip) => {
        const { coefficients, loss } = valueCoefficients(one, { clip, tokens: 7 });
        expect(loss).toBeCloseTo(written(one, [...one.values], clip, 7), 10);
        expectSlopes(
          coefficients,
          one.values,
          one.actionMask,
          (now) => written(one, now, clip, 7),
          (t) => Math.abs(Math.abs(one.values[t] - one.oldValues[t]) - clip) < 1e-3 || nearTie(one, t, clip),
        );
      }),
    );
  });

  // Where the value and the cut one are equally far from the return, on either side of it.
  const nearTie = ({ values, oldValues, returns }: ValueTrajectory, t: number, clip: number) => {
    const cut = Math.min(Math.max(values[t], oldValues[t] - clip), oldValues[t] + clip);
    return cut !== values[t] && Math.abs(Math.abs(values[t] - returns[t]) - Math.abs(cut - returns[t])) < 1e-3;
  };

  it("equals verl's", () => {
    const { clip, predicted, returns, gradient, loss, clippedFraction } = golden.value;
    const tokens = golden.mask.flat().reduce((sum, bit) => sum + bit, 0);
    const results = masks.map((actionMask, i) =>
      valueCoefficients(
        {
          actionMask,
          values: Float32Array.from(predicted[i]),
          oldValues: Float32Array.from(golden.gae.values[i]),
          returns: returns[i],
        },
        { clip, tokens },
      ),
    );
    expect(results.reduce((sum, each) => sum + each.loss, 0)).toBeCloseTo(loss, 7);
    expect(results.reduce((sum, each) => sum + each.clipped, 0) / tokens).toBeCloseTo(clippedFraction, 7);
    expect(clippedFraction).toBeGreaterThan(0);
    results.forEach(({ coefficients }, i) =>
      coefficients.forEach((value, t) => expect(value).toBeCloseTo(gradient[i][t], 7)),
    );
  });
});

interface GoldenVtrace extends Omit<VtraceOptions, 'cBar'> {
  readonly bootstrap: number;
  readonly rewards: number[];
  readonly values: number[];
  readonly logRatios: number[];
  readonly targets: number[];
  /** Null where RLax's are another formula's (scripts/golden/vtrace.py). */
  readonly advantages: number[] | null;
}

const { cases: goldenVtrace } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'vtrace.json'), 'utf8'),
) as { cases: GoldenVtrace[] };

describe('V-trace', () => {
  it.each(goldenVtrace)("equals RLax's: gamma $gamma, lambda $lambda, rho at most $rhoBar", (golden) => {
    const { rewards, values, logRatios, bootstrap } = golden;
    // Between the actions stand tokens that were not sampled, whatever their numbers.
    const apart = (numbers: readonly number[]) => numbers.flatMap((value) => [NaN, value]);
    const mask = Uint8Array.from(apart(rewards), (_, t) => t % 2);
    const options = { ...golden, cBar: 1 };
    const found = vtrace(apart(rewards), apart(values), apart(logRatios), mask, options, bootstrap);
    const sampled = (numbers: Float64Array) => [...numbers].filter((_, t) => mask[t] === 1);
    sampled(found.targets).forEach((value, k) => expect(value).toBeCloseTo(golden.targets[k], 9));
    golden.advantages?.forEach((value, k) => expect(sampled(found.advantages)[k]).toBeCloseTo(value, 9));
  });

  it('is compared where each bound holds somewhere and where none does', () => {
    const ratios = goldenVtrace.flatMap(({ logRatios, rhoBar }) =>
      logRatios.map((logRatio) => Math.exp(logRatio) > rhoBar),
    );
    expect(new Set(ratios)).toEqual(new Set([true, false]));
    expect(goldenVtrace.filter(({ advantages }) => advantages !== null).length).toBeGreaterThan(3);
  });

  it('is generalized advantage estimation where the policies agree', () => {
    fc.assert(
      fc.property(arbitraryValues, unit, unit, (one, gamma, lambda) => {
        const same = one.logRatios.map(() => 0);
        const bounds = { gamma, lambda, rhoBar: 1, cBar: 1 };
        const { targets } = vtrace(one.rewards, one.values, same, one.actionMask, bounds, 0.5);
        const { returns } = generalizedAdvantages(one.rewards, one.values, one.actionMask, { gamma, lambda }, 0.5);
        targets.forEach((value, t) => expect(value).toBeCloseTo(returns[t], 8));
      }),
    );
  });

  it('is the sum of the paper, with both weights cut', () => {
    fc.assert(
      fc.property(arbitraryValues, unit, (one, gamma) => {
        const [rhoBar, cBar] = [1.2, 0.9];
        const found = vtrace(
          one.rewards,
          one.values,
          one.logRatios,
          one.actionMask,
          { gamma, lambda: 1, rhoBar, cBar },
          1,
        );
        const actions = [...one.actionMask.keys()].filter((t) => one.actionMask[t] === 1);
        const value = (k: number) => (k < actions.length ? one.values[actions[k]] : 1);
        const ratio = (k: number) => Math.exp(one.logRatios[actions[k]]);
        // v_s = V_s + sum_t gamma^(t - s) (prod_{i < t} c_i) rho_t (r_t + gamma V_t+1 - V_t)
        const target = (s: number) => {
          let [sum, trace] = [value(s), 1];
          for (let k = s; k < actions.length; k++) {
            sum += trace * Math.min(rhoBar, ratio(k)) * (one.rewards[actions[k]] + gamma * value(k + 1) - value(k));
            trace *= gamma * Math.min(cBar, ratio(k));
          }
          return sum;
        };
        actions.forEach((t, k) => {
          expect(found.targets[t]).toBeCloseTo(target(k), 8);
          const advantage = Math.min(rhoBar, ratio(k)) * (one.rewards[t] + gamma * target(k + 1) - value(k));
          expect(found.advantages[t]).toBeCloseTo(advantage, 8);
        });
      }),
    );
  });
});
