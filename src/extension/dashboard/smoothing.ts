/**
 * Exponential moving average, corrected for its start (Kingma and Ba 2015, arXiv 1412.6980, section 3): the mean of the
 * values up to here, each weighing `factor` times what the next one weighs. Gaps stay gaps and do not count.
 * @param factor in [0, 1); 0 leaves the values as they are
 */
export function smooth(values: readonly (number | null)[], factor: number): (number | null)[] {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = factor * sum + (1 - factor) * value;
    weight = factor * weight + (1 - factor);
    return sum / weight;
  });
}

/** Columns over one axis: the sorted positions of all, and each column with null where it has none. */
export function align(columns: readonly { readonly x: readonly number[]; readonly y: readonly (number | null)[] }[]): {
  x: number[];
  ys: (number | null)[][];
} {
  const x = [...new Set(columns.flatMap((column) => column.x))].sort((a, b) => a - b);
  const position = new Map(x.map((value, index) => [value, index]));
  const ys = columns.map((column) => {
    const y = new Array<number | null>(x.length).fill(null);
    column.x.forEach((value, index) => (y[position.get(value)!] = column.y[index]));
    return y;
  });
  return { x, ys };
}

/** What a person looks at first comes first; the rest by name. */
const first = [
  ...['reward', 'success', 'reward_std', 'frac_reward_zero_std', 'entropy', 'kl', 'clip_ratio/region_mean', 'loss'],
  ...['completions/mean_length', 'completions/clipped_ratio', 'tools/call_frequency', 'tools/failure_frequency'],
];

export function inOrder(names: Iterable<string>): string[] {
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...new Set(names)].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
