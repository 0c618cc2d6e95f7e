import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryTokens, expectSlopes, sumOver } from './coefficients.testing.js';
import { criticEstimate, type ValuedRollout } from './criticEstimators.js';
import { dapoCoefficients } from './dapo.js';
import { generalizedAdvantages } from './gae.js';
import { valueCoefficients } from './valueLoss.js';

const options = { gamma: 0.9, lambda: 0.8, rhoBar: 1.2, cBar: 0.9 };

/** Turns of two places each, whether sampled or not. */
const arbitraryRollout = fc
  .tuple(arbitraryTokens, fc.double({ min: -1, max: 1, noNaN: true }))
  .map(([tokens, reward]): ValuedRollout & { logprobs: Float32Array } => ({
    logprobs: tokens.logprobs,
    reward,
    actionMask: tokens.actionMask,
    stateValues: tokens.referenceLogprobs,
    penalties: tokens.advantages.map((value) => value / 10),
    turnOfToken: null,
    logRatios: null,
  }));
const pairs = ({ actionMask }: ValuedRollout) => Int32Array.from(actionMask, (_, t) => Math.floor(t / 2));

describe('an estimate with a critic', () => {
  it('is GAE over the sampled tokens, the last of which earns the outcome', () => {
    const mask = Uint8Array.of(0, 1, 1, 0, 1);
    const stateValues = Float32Array.of(NaN, 0.5, 0.25, NaN, -1);
    const rollout = { reward: 1, actionMask: mask, stateValues, penalties: null, turnOfToken: null, logRatios: null };
    const { advantages, targets, valued } = criticEstimate(rollout, options);
    const wanted = generalizedAdvantages([0, 0, 0, 0, 1], stateValues, mask, options);
    expect({ advantages, targets }).toEqual({ advantages: wanted.advantages, targets: wanted.returns });
    expect(advantages[4]).toBe(2);
    expect(valued).toEqual(mask);
  });

  it('takes a whole turn as one action: valued at its first token, its tokens share the advantage and pay together', () => {
    const rollout = {
      reward: 1,
      actionMask: Uint8Array.of(0, 1, 1, 0, 1, 1),
      stateValues: Float32Array.of(NaN, 0.5, 9, NaN, -1, 9),
      penalties: Float64Array.of(NaN, 0.125, 0.25, NaN, 0, 0.5),
      turnOfToken: Int32Array.of(-1, 0, 0, -1, 1, 1),
      logRatios: null,
    };
    const { advantages, targets, valued } = criticEstimate(rollout, { ...options, gamma: 0.5, lambda: 1 });
    const [last, first] = [1 - 0.5 + 1, -0.375 - 0.5 + 0.5 * 0.5];
    expect([...advantages]).toEqual([0, first, first, 0, last, last]);
    expect([...targets]).toEqual([0, first + 0.5, 0, 0, 0.5, 0]);
    expect([...valued]).toEqual([0, 1, 0, 0, 1, 0]);
  });

  it('is the same whether each token is an action or a turn of its own', () => {
    fc.assert(
      fc.property(arbitraryRollout, (rollout) => {
        const turnOfToken = Int32Array.from(rollout.actionMask, (_, t) => t);
        expect(criticEstimate({ ...rollout, turnOfToken }, options)).toEqual(criticEstimate(rollout, options));
      }),
    );
  });

  it('corrected by V-trace, gives coefficients with the slopes of the losses of IMPALA, by token and by turn', () => {
    fc.assert(
      fc.property(arbitraryRollout, fc.boolean(), (rollout, byTurn) => {
        const { actionMask, penalties, stateValues, reward, logprobs } = rollout;
        const logRatios = Float64Array.from(actionMask, (_, t) => Math.sin(7 * t + 10 * reward));
        const turnOfToken = byTurn ? pairs(rollout) : null;
        const estimate = criticEstimate({ ...rollout, turnOfToken, logRatios }, options);
        const tokens = sumOver(actionMask, () => 1);

        // The actions, and section 4.1 of arXiv 1802.01561 written out over them.
        const sampled = [...actionMask.keys()].filter((t) => actionMask[t] === 1);
        const actions = sampled.reduce<number[][]>((all, t) => {
          const before = all.at(-1);
          if (byTurn && before && Math.floor(before[0] / 2) === Math.floor(t / 2)) before.push(t);
          else all.push([t]);
          return all;
        }, []);
        const value = (k: number) => (k < actions.length ? stateValues[actions[k][0]] : 0);
        const ratio = (k: number) => Math.exp(actions[k].reduce((sum, t) => sum + logRatios[t], 0));
        const earned = (k: number) =>
          (k === actions.length - 1 ? reward : 0) - actions[k].reduce((sum, t) => sum + penalties![t], 0);
        const target = (s: number) => {
          let [sum, trace] = [value(s), 1];
          for (let k = s; k < actions.length; k++) {
            const rho = Math.min(options.rhoBar, ratio(k));
            sum += trace * rho * (earned(k) + options.gamma * value(k + 1) - value(k));
            trace *= options.gamma * options.lambda * Math.min(options.cBar, ratio(k));
          }
          return sum;
        };

        const { coefficients } = dapoCoefficients(
          {
            actionMask,
            logprobs,
            oldLogprobs: logprobs,
            referenceLogprobs: null,
            advantage: estimate.advantages,
            equalRewards: false,
          },
          { clipLow: 0.2, clipHigh: 0.2, klCoefficient: 0, tokens },
        );
        const policyLoss = (now: readonly number[]) =>
          actions.reduce((loss, places, k) => {
            const rho = Math.min(options.rhoBar, ratio(k));
            const advantage = rho * (earned(k) + options.gamma * target(k + 1) - value(k));
            return loss - places.reduce((sum, t) => sum + (advantage / tokens) * now[t], 0);
          }, 0);
        expectSlopes(coefficients, logprobs, actionMask, policyLoss);

        const values = Float32Array.from(stateValues);
        expectSlopes(
          valueCoefficients(
            { actionMask: estimate.valued, values, oldValues: values, returns: estimate.targets },
            { clip: 0.2, tokens: actions.length },
          ).coefficients,
          values,
          estimate.valued,
          (now) =>
            // The targets are constants of the loss.
            actions.reduce((loss, [t], k) => loss + (now[t] - target(k)) ** 2 / 2 / actions.length, 0),
        );
      }),
    );
  });
});
