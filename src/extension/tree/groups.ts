import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { badInput } from '../../trajectory/errors.js';
import type { RunStore } from '../runs/runStore.js';
import { runOf, type TaskNode } from '../runs/runTree.js';
import { t } from '../translate.js';
import type { Rollout } from './groupTree.js';

/** The rollouts of one task in one step, or its episodes in one evaluation. */
export interface GroupAddress {
  readonly stateFolder: string;
  readonly runId: string;
  readonly kind: TrajectoryHeader['kind'];
  readonly step: number;
  readonly taskId: string;
}

/** More would be no picture any more. */
const shownRollouts = 64;

export function groupOfTask(node: TaskNode): GroupAddress | undefined {
  const run = runOf(node);
  if (!run) return undefined;
  const { phase: kind, step } = node.parent;
  return { stateFolder: run.repository.stateFolder, runId: run.summary.id, kind, step, taskId: node.taskId };
}

export const keyOfGroup = (group: GroupAddress) => JSON.stringify(group);

/** Throws bad-input where the key was not made by `keyOfGroup`. */
export function groupOfKey(key: string): GroupAddress {
  const group = JSON.parse(key) as Partial<GroupAddress> | null;
  const texts = [group?.stateFolder, group?.runId, group?.kind, group?.taskId];
  if (texts.every((text) => typeof text === 'string') && typeof group?.step === 'number') return group as GroupAddress;
  throw badInput(t('This names no group of rollouts.'), t('Open one from the Runs view.'));
}

/** The rollouts in their order, and how many were left out. */
export async function readGroup(
  store: RunStore,
  { stateFolder, runId, kind, step, taskId }: GroupAddress,
): Promise<{ rollouts: readonly Rollout[]; leftOut: number }> {
  const reader = await store.reader(stateFolder, runId);
  const [headers, steps] = await Promise.all([
    reader.headers((header) => header.kind === kind && header.step === step && header.taskId === taskId),
    reader.steps(),
  ]);
  const all = [...headers].sort((a, b) => a.sample - b.sample);
  const groups = kind === 'rollout' ? (steps.find((event) => event.step === step)?.groups ?? []) : [];
  const advantages = new Map(
    groups.flatMap(({ trajectoryIds, advantages }) => trajectoryIds.map((id, at) => [id, advantages[at]] as const)),
  );
  const rollouts: Rollout[] = [];
  for (const header of all.slice(0, shownRollouts)) {
    const trajectory = await reader.trajectory(header.id);
    rollouts.push({ trajectory, header, advantage: advantages.get(header.id) ?? null });
  }
  return { rollouts, leftOut: all.length - rollouts.length };
}
