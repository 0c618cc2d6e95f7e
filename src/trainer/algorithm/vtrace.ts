export interface VtraceOptions {
  readonly gamma: number;
  readonly lambda: number;
  /** Bound of the weight of a temporal difference: decides what value function is the fixed point. */
  readonly rhoBar: number;
  /** Bound of the trace: decides how fast it is reached. */
  readonly cBar: number;
}

/**
 * V-trace (IMPALA, arXiv 1802.01561, section 4.1): value targets and advantages from actions of an older policy mu.
 *
 *   rho_t = min(rhoBar, pi/mu)        c_t = lambda min(cBar, pi/mu)
 *   delta_t = rho_t (r_t + gamma V_t+1 - V_t)
 *   v_t = V_t + delta_t + gamma c_t (v_t+1 - V_t+1)
 *   A_t = rho_t (r_t + gamma v_t+1 - V_t)
 *
 * The advantage comes with its weight; the surrogate beside it is plain REINFORCE. Masked tokens are passed over as in gae.ts.
 * @param logRatios log pi - log mu of each action: [time]
 * @param bootstrap value of the state behind the last action; 0 where the episode ended there
 * @returns both 0 where the mask is 0: [time]
 */
export function vtrace(
  rewards: ArrayLike<number>,
  values: ArrayLike<number>,
  logRatios: ArrayLike<number>,
  actionMask: Uint8Array,
  { gamma, lambda, rhoBar, cBar }: VtraceOptions,
  bootstrap = 0,
): { targets: Float64Array; advantages: Float64Array } {
  const targets = new Float64Array(actionMask.length);
  const advantages = new Float64Array(actionMask.length);
  let [nextValue, nextTarget] = [bootstrap, bootstrap];
  for (let t = actionMask.length - 1; t >= 0; t--) {
    if (actionMask[t] === 0) continue;
    const ratio = Math.exp(logRatios[t]);
    const [rho, c] = [Math.min(rhoBar, ratio), lambda * Math.min(cBar, ratio)];
    const delta = rho * (rewards[t] + gamma * nextValue - values[t]);
    advantages[t] = rho * (rewards[t] + gamma * nextTarget - values[t]);
    targets[t] = values[t] + delta + gamma * c * (nextTarget - nextValue);
    [nextValue, nextTarget] = [values[t], targets[t]];
  }
  return { targets, advantages };
}
