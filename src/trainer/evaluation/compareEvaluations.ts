import { comparePaired, type PairedComparison, type PairedTask } from '../algorithm/pairedTest.js';
import type { TaskOutcomes } from './evaluationMetrics.js';

export interface EvaluationComparison extends PairedComparison {
  /** Tasks that were solved less often than before, the worst first. */
  readonly regressions: readonly PairedTask[];
  /** Tasks that were solved more often, the best first. */
  readonly improvements: readonly PairedTask[];
}

/** Compares an evaluation with an earlier one of the same tasks, episode by episode of the same sample; others do not count. */
export function compareEvaluations(
  before: readonly TaskOutcomes[],
  after: readonly TaskOutcomes[],
): EvaluationComparison {
  const earlier = new Map(before.map(({ taskId, solved }) => [taskId, solved]));
  const pairs = after.map(({ taskId, solved }): PairedTask => {
    const both = solved.flatMap((one, sample) => {
      const other = earlier.get(taskId)?.[sample] ?? null;
      return one === null || other === null ? [] : [[other, one] as const];
    });
    return {
      taskId,
      episodes: both.length,
      before: both.filter(([other]) => other).length,
      after: both.filter(([, one]) => one).length,
    };
  });
  const gain = ({ before: was, after: is, episodes }: PairedTask) => (episodes === 0 ? 0 : (is - was) / episodes);
  const sorted = [...pairs].sort((a, b) => gain(a) - gain(b));
  return {
    ...comparePaired(pairs),
    regressions: sorted.filter((pair) => gain(pair) < 0),
    improvements: sorted.filter((pair) => gain(pair) > 0).reverse(),
  };
}
