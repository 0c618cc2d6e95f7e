export interface GaeOptions {
  /** Discount from one action to the next. */
  readonly gamma: number;
  /** 0: one-step differences; 1: the whole return against the value. */
  readonly lambda: number;
}

/**
 * Generalized advantage estimation (arXiv 1506.02438, equation 16), and the returns that a critic learns from:
 *
 *   delta_t = r_t + gamma V_t+1 - V_t        A_t = delta_t + gamma lambda A_t+1        R_t = A_t + V_t
 *
 * t+1 is the next action: whatever is masked in between is passed over (as verl does), neither discounted nor valued. Over
 * turns in place of tokens, with a mask of ones, this is a step-level critic's. PPO whitens the advantages (whiten.ts).
 * @param rewards of each action: [time]
 * @param values the critic's, from before the step's first update: [time]
 * @param actionMask 1 on actions: [time]
 * @param bootstrap value of the state behind the last action; 0 where the episode ended there
 * @returns both 0 where the mask is 0: [time]
 */
export function generalizedAdvantages(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  actionMask: Uint8Array,
  { gamma, lambda }: GaeOptions,
  bootstrap = 0,
): { advantages: Float64Array; returns: Float64Array } {
  const advantages = new Float64Array(actionMask.length);
  const returns = new Float64Array(actionMask.length);
  let [nextValue, nextAdvantage] = [bootstrap, 0];
  for (let t = actionMask.length - 1; t >= 0; t--) {
    if (actionMask[t] === 0) continue;
    const delta = rewards[t] + gamma * nextValue - values[t];
    nextAdvantage = delta + gamma * lambda * nextAdvantage;
    nextValue = values[t];
    advantages[t] = nextAdvantage;
    returns[t] = nextAdvantage + values[t];
  }
  return { advantages, returns };
}
