import type { FunnelCounts, Task } from '../../trajectory/task.js';
import { readBuilt, writeTasks } from './taskStore.js';
import type { TaskVerification } from './verifyTasks.js';

/** Takes the tasks that failed their verification out of the store; the funnel counts them, a note says why for each. */
export async function dropTasks(stateFolder: string, verified: readonly TaskVerification[]): Promise<void> {
  const failed = new Map(verified.filter(({ failures }) => failures.length > 0).map((one) => [one.instance_id, one]));
  const { key, ...built } = await readBuilt(stateFolder);
  const dropped = built.tasks.filter(({ instance_id }) => failed.has(instance_id));
  if (dropped.length === 0) return;
  const without = <Counts extends FunnelCounts>(counts: Counts, isCounted: (task: Task) => boolean): Counts => {
    const invalid = { ...counts.invalid };
    const counted = dropped.filter(isCounted);
    for (const { instance_id } of counted) {
      const reason = kindOf(failed.get(instance_id)!);
      invalid[reason] = (invalid[reason] ?? 0) + 1;
    }
    return { ...counts, invalid, kept: counts.kept - counted.length };
  };
  const sources = Object.entries(built.funnel.sources).map(([source, counts]) => [
    source,
    without(counts, (task) => task.whetstone.source === source),
  ]);
  await writeTasks(stateFolder, key, {
    ...built,
    tasks: built.tasks.filter(({ instance_id }) => !failed.has(instance_id)),
    funnel: {
      ...without(built.funnel, () => true),
      sources: Object.fromEntries(sources) as typeof built.funnel.sources,
    },
    notes: [
      ...built.notes,
      ...dropped.map(({ instance_id }) => `${instance_id} was dropped: ${reasonFor(failed.get(instance_id)!)}.`),
    ],
  });
}

/** A short phrase, for counting. */
const kindOf = ({ checks }: TaskVerification) =>
  checks.some(({ wanted, isAsItMustBe }) => wanted === 'all' && !isAsItMustBe)
    ? 'the oracle is not graded as resolved'
    : 'can be cheated';

function reasonFor({ failures, checks }: TaskVerification): string {
  const first = checks.find(({ name }) => name === failures[0]);
  const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : '';
  return `${failures[0]}${more}: ${first?.reason ?? ''}`.replace(/\.?$/, '');
}
