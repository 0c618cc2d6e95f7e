/**
 * Soft overlong punishment of DAPO (arXiv 2503.14476, equation 13), to be added to the reward: 0 up to `most - buffer`
 * tokens, then falling in a straight line to -1 at `most`, and -1 beyond.
 * @param length sampled tokens of the trajectory
 * @param most tokens that it may have
 * @param buffer tokens before `most` in which the punishment grows; more than 0
 */
export function overlongPenalty(length: number, most: number, buffer: number): number {
  // Not -0 where nothing is overlong: that would not be equal to 0 to everyone.
  return 0 - Math.min(1, Math.max(0, length - (most - buffer)) / buffer);
}
