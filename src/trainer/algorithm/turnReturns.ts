/**
 * Returns discounted from turn to turn: G_k = sum_{j >= k} gamma^(j - k) r_j. Tokens of one turn are one action and share its
 * return, with no discount between them (POAD, arXiv 2405.15821), so that a long command is not worth less.
 * @param rewards of each turn, the outcome at the last: [turns]
 * @returns [turns]
 */
export function turnReturns(rewards: readonly number[], gamma: number): number[] {
  const returns = [...rewards];
  for (let turn = rewards.length - 2; turn >= 0; turn--) returns[turn] += gamma * returns[turn + 1];
  return returns;
}

/**
 * Gives each turn's value to its sampled tokens.
 * @param values [turns]
 * @param turnOfToken index of the turn that each token belongs to; not looked at where the mask is 0: [time]
 * @returns 0 where the mask is 0: [time]
 */
export function overTokens(
  values: ArrayLike<number>,
  turnOfToken: ArrayLike<number>,
  actionMask: Uint8Array,
): Float64Array {
  return Float64Array.from(actionMask, (bit, t) => (bit === 0 ? 0 : values[turnOfToken[t]]));
}
