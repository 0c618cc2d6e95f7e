/** Outcomes of one task under two policies: the episodes of the same samples, both graded. */
export interface PairedTask {
  readonly taskId: string;
  readonly episodes: number;
  readonly before: number;
  readonly after: number;
}

export interface PairedComparison {
  readonly tasks: number;
  readonly episodes: number;
  /** Success of the second less that of the first, averaged over tasks. */
  readonly difference: number;
  /** 95 % interval of the difference; null where all tasks (or the only one) differ alike: their spread is not known then. */
  readonly interval: readonly [low: number, high: number] | null;
  /** Two-sided; 1 where nothing differs. */
  readonly pValue: number;
}

/** 97.5 % quantile of the normal distribution: two-sided 95 %. */
const z = 1.959963984540054;

/**
 * Compares two policies on the same tasks. The p-value is that of the exact sign-flip test (Fisher's randomization test for
 * pairs): were the policies alike, each task's difference d_i could as well have had the other sign,
 *
 *   p = P(|sum_i e_i d_i| >= |sum_i d_i|),  e_i = +-1 with probability 1/2 each
 *
 * With one episode a task this is McNemar's exact test. Differences are whole numbers of successes, so the distribution of
 * the sum is computed exactly and nothing is drawn at random. The interval is that of the mean of the paired differences with tasks
 * as clusters (Miller, arXiv 2411.00640, section 4): mean +- 1.96 s / sqrt(n).
 */
export function comparePaired(pairs: readonly PairedTask[]): PairedComparison {
  const known = pairs.filter(({ episodes }) => episodes > 0);
  const rates = known.map(({ episodes, before, after }) => (after - before) / episodes);
  const mean = rates.length === 0 ? 0 : rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const variance = rates.reduce((sum, rate) => sum + (rate - mean) ** 2, 0) / Math.max(1, rates.length - 1);
  const half = z * Math.sqrt(variance / Math.max(1, rates.length));
  return {
    tasks: known.length,
    episodes: known.reduce((sum, { episodes }) => sum + episodes, 0),
    difference: mean,
    interval: variance === 0 ? null : [Math.max(-1, mean - half), Math.min(1, mean + half)],
    pValue: signFlipPValue(known.map(({ before, after }) => after - before)),
  };
}

/** @param differences whole numbers */
export function signFlipPValue(differences: readonly number[]): number {
  const sizes = differences.map(Math.abs).filter((size) => size > 0);
  const observed = Math.abs(differences.reduce((sum, value) => sum + value, 0));
  // Probability of each sum so far.
  let sums = new Map([[0, 1]]);
  for (const size of sizes) {
    const next = new Map<number, number>();
    for (const [sum, probability] of sums) {
      for (const to of [sum - size, sum + size]) next.set(to, (next.get(to) ?? 0) + probability / 2);
    }
    sums = next;
  }
  const extreme = [...sums].filter(([sum]) => Math.abs(sum) >= observed);
  return Math.min(
    1,
    extreme.reduce((total, [, probability]) => total + probability, 0),
  );
}
