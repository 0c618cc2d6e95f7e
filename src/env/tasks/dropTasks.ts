import type { TaskVerification } from './verifyTasks.js';
import { readBuilt, writeTasks } from './taskStore.js';

const CHEATED = 'can be cheated';
const UNSOLVED = 'the oracle does not resolve it';

/** Takes the tasks that failed their verification out of the store; the funnel counts them, a note says why for each. */
export async function dropTasks(stateFolder: string, verified: readonly TaskVerification[]): Promise<void> {
  const failed = new Map(verified.filter(({ failures }) => failures.length > 0).map((one) => [one.instance_id, one]));
  const { key, ...built } = await readBuilt(stateFolder);
  const dropped = built.tasks.flatMap(({ instance_id }) => failed.get(instance_id) ?? []);
  if (dropped.length === 0) return;
  const invalid = { ...built.funnel.invalid };
  for (const one of dropped) {
    const reason = one.failures.some((name) => name.startsWith('the oracle')) ? UNSOLVED : CHEATED;
    invalid[reason] = (invalid[reason] ?? 0) + 1;
  }
  const tasks = built.tasks.filter(({ instance_id }) => !failed.has(instance_id));
  await writeTasks(stateFolder, key, {
    ...built,
    tasks,
    funnel: { ...built.funnel, invalid, kept: tasks.length },
    notes: [...built.notes, ...dropped.map((one) => `${one.instance_id} was dropped: ${reasonFor(one)}.`)],
  });
}

function reasonFor({ failures, checks }: TaskVerification): string {
  const first = checks.find(({ name }) => name === failures[0]);
  const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : '';
  return `${failures[0]}${more}: ${first?.reason ?? ''}`.replace(/\.?$/, '');
}
