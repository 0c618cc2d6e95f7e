import type { EvaluationComparison } from '../trainer/evaluation/compareEvaluations.js';

/** What changed against an earlier policy, for a person. */
export function comparisonLines({
  difference,
  interval,
  pValue,
  tasks,
  regressions,
  improvements,
}: EvaluationComparison) {
  const points = (value: number) => `${value >= 0 ? '+' : '-'}${(100 * Math.abs(value)).toFixed(1)}`;
  const range = interval === null ? '' : ` (95 % interval ${points(interval[0])} to ${points(interval[1])})`;
  const each = (word: string, pairs: EvaluationComparison['regressions']) =>
    pairs.map(({ taskId, before, after, episodes }) => `  ${word} ${taskId}: ${before} -> ${after} of ${episodes}`);
  return [
    `Against the earlier policy: ${points(difference)} points${range} on ${tasks} tasks, p = ${pValue.toPrecision(2)} (exact paired sign-flip test)`,
    ...each('regressed', regressions),
    ...each('improved', improvements),
  ];
}
