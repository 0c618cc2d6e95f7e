import { generalizedAdvantages, type GaeOptions } from './gae.js';
import { vtrace, type VtraceOptions } from './vtrace.js';

/**
 * Estimators that hold a return against what a critic expected: token by token, or turn by turn (a step-level critic); or that have it
 * score turns beside the group's comparison (scoredTurns.ts).
 */
export const criticEstimatorNames = ['gae', 'turn-gae', 'scored-turns'] as const;
export type CriticEstimator = (typeof criticEstimatorNames)[number];

/** One rollout, as an estimator with a critic sees it. Arrays are [time]; where the mask is 0 they are never looked at. */
export interface ValuedRollout {
  readonly reward: number;
  readonly actionMask: Uint8Array;
  /** What the critic expects where each token was sampled, before the step's first update. */
  readonly stateValues: ArrayLike<number>;
  /** What each token costs (kl.ts); null where nothing does. */
  readonly penalties: ArrayLike<number> | null;
  /** Turn that each token belongs to, where a turn is one action; null where a token is. */
  readonly turnOfToken: ArrayLike<number> | null;
  /** log pi - log mu of each token, where V-trace corrects for the policy mu that sampled it; null where nothing does. */
  readonly logRatios: ArrayLike<number> | null;
}

export interface CriticEstimate {
  /** Shared by the tokens of an action; 0 where the mask is 0: [time] */
  readonly advantages: Float64Array;
  /** What the critic should have expected; only where `valued`: [time] */
  readonly targets: Float64Array;
  /** 1 on the first token of each action, whose state it was taken in: [time] */
  readonly valued: Uint8Array;
}

/**
 * Advantages and the critic's targets of one rollout: GAE (gae.ts), or V-trace (vtrace.ts) where ratios are given. An action
 * is a token or a whole turn; it pays for its tokens, the last one earns the outcome, and its probability is the product of
 * its tokens'. The episode ends behind the last action, since what a limit cut off is graded as it stands.
 */
export function criticEstimate(
  { reward, actionMask, stateValues, penalties, turnOfToken, logRatios }: ValuedRollout,
  options: GaeOptions & VtraceOptions,
): CriticEstimate {
  const actionOf = actionsOf(actionMask, turnOfToken);
  const actions = actionOf.reduce((most, action) => Math.max(most, action + 1), 0);
  const valued = new Uint8Array(actionMask.length);
  const [rewards, values, ratios] = [0, 0, 0].map(() => new Float64Array(actions));
  let begun = 0;
  actionOf.forEach((action, t) => {
    if (action < 0) return;
    if (action === begun) {
      begun += 1;
      valued[t] = 1;
      values[action] = stateValues[t];
    }
    if (penalties) rewards[action] -= penalties[t];
    if (logRatios) ratios[action] += logRatios[t];
  });
  if (actions > 0) rewards[actions - 1] += reward;
  const all = new Uint8Array(actions).fill(1);
  const { advantages, targets } = logRatios
    ? vtrace(rewards, values, ratios, all, options)
    : gae(rewards, values, all, options);
  const spread = (perAction: Float64Array, mask: Uint8Array) =>
    Float64Array.from(mask, (bit, t) => (bit === 0 ? 0 : perAction[actionOf[t]]));
  return { advantages: spread(advantages, actionMask), targets: spread(targets, valued), valued };
}

function gae(rewards: Float64Array, values: Float64Array, mask: Uint8Array, options: GaeOptions) {
  const { advantages, returns } = generalizedAdvantages(rewards, values, mask, options);
  return { advantages, targets: returns };
}

/** Index of the action that each token is part of; -1 where the mask is 0. */
function actionsOf(actionMask: Uint8Array, turnOfToken: ArrayLike<number> | null): Int32Array {
  let action = -1;
  let turn: number | null = null;
  return Int32Array.from(actionMask, (bit, t) => {
    if (bit === 0) return -1;
    const here = turnOfToken === null ? t : turnOfToken[t];
    if (here !== turn) [action, turn] = [action + 1, here];
    return action;
  });
}
