/** What PPO's value loss needs to know of one trajectory: [time]. Where the mask is 0 the others are never looked at. */
export interface ValueTrajectory {
  readonly actionMask: Uint8Array;
  /** The critic's values now. */
  readonly values: Float32Array;
  /** The critic's values before the step's first update. */
  readonly oldValues: Float32Array;
  /** What they should have been (gae.ts). */
  readonly returns: ArrayLike<number>;
}

export interface ValueLossOptions {
  /** A value may move this far from the old one, in units of the return. */
  readonly clip: number;
  /** Actions that the whole step's loss is averaged over. */
  readonly tokens: number;
}

/**
 * PPO's clipped value loss (as in OpenAI's baselines; verl's `compute_value_loss`) and its derivative by each value:
 *
 *   L = 1/tokens sum_t m_t 1/2 max((V_t - R_t)^2, (clip(V_t, old_t - clip, old_t + clip) - R_t)^2)
 *   dL/dV_t = m_t / tokens (V_t - R_t), or 0 where the clipped term is the larger
 *
 * @returns coefficients dL/dV, 0 where the mask is 0: [time]; clipped: actions whose value gets no gradient
 */
export function valueCoefficients(
  { actionMask, values, oldValues, returns }: ValueTrajectory,
  { clip, tokens }: ValueLossOptions,
): { coefficients: Float32Array; loss: number; clipped: number } {
  const coefficients = new Float32Array(actionMask.length);
  let [loss, clipped] = [0, 0];
  for (let t = 0; t < actionMask.length; t++) {
    if (actionMask[t] === 0) continue;
    const cut = Math.max(oldValues[t] - clip, Math.min(oldValues[t] + clip, values[t]));
    const [free, bound] = [(values[t] - returns[t]) ** 2, (cut - returns[t]) ** 2];
    loss += Math.max(free, bound) / 2 / tokens;
    if (bound > free) clipped += 1;
    else coefficients[t] = (values[t] - returns[t]) / tokens;
  }
  return { coefficients, loss, clipped };
}
