import { overTokens } from './turnReturns.js';

/**
 * Turn-level credit from the outcome alone (POAD's backup, arXiv 2405.15821, equations 9 and 10, with the group as the
 * critic): the reward comes at the last turn and is discounted from turn to turn, while the tokens of one turn are one action
 * with no discount between them.
 *
 *   A_i,k = gamma^(K_i - 1 - k) A_i        A_i: the group's advantage of the rollout; K_i: its turns
 *
 * @param advantage A_i
 * @param turnOfToken [time]
 * @returns one advantage a token, 0 where the mask is 0: [time]
 */
export function turnDiscounted(
  advantage: number,
  turnOfToken: Int32Array,
  turns: number,
  actionMask: Uint8Array,
  gamma: number,
): Float64Array {
  const values = Array.from({ length: turns }, (_, turn) => gamma ** (turns - 1 - turn) * advantage);
  return overTokens(values, turnOfToken, actionMask);
}
