import type { Trajectory } from '../trajectory/trajectory.js';
import { equalRewards } from './algorithm/advantages.js';
import { meanOf } from './algorithm/stepMetrics.js';
import type { TreePlace } from './algorithm/treeAdvantages.js';

/** The places of a group's rollouts; none where all were played from the prompt on. */
export function treePlaces(group: readonly Trajectory[]): ReadonlyMap<Trajectory, TreePlace> {
  if (group.every(({ origin }) => origin === undefined)) return new Map();
  const indexOf = new Map(group.map(({ id }, index) => [id, index]));
  return new Map(
    group.map((trajectory) => {
      const { origin, nodes, id } = trajectory;
      const parent = origin === undefined ? null : indexOf.get(origin.trajectoryId);
      if (parent === undefined) throw new Error(`internal: ${id} leaves a rollout that is not of its group`);
      const nodeOfToken = Int32Array.from(nodes.flatMap(({ tokenIds }, node) => Array.from(tokenIds, () => node)));
      return [trajectory, { parent, shared: origin?.nodes ?? 0, nodeOfToken }];
    }),
  );
}

/** Whether it was played from the prompt on, so that it tells how the policy does. */
export const fromPrompt = ({ origin }: Pick<Trajectory, 'origin'>) => origin === undefined;

/** What the branches of a step's groups came to; nothing where there are none. */
export function branchMetrics(groups: readonly (readonly Trajectory[])[]): Record<string, number> {
  const all = groups.flat();
  const branches = all.filter((one) => !fromPrompt(one));
  if (branches.length === 0) return {};
  const grades = branches.flatMap(({ grade }) => (grade === null ? [] : [grade]));
  const parents = new Map(all.map((one) => [one.id, one]));
  const pivots = new Map<string, Trajectory[]>();
  for (const branch of branches) {
    const { trajectoryId, turn } = branch.origin!;
    const key = JSON.stringify([trajectoryId, turn]);
    pivots.set(key, [...(pivots.get(key) ?? [parents.get(trajectoryId)!]), branch]);
  }
  const isSilent = (siblings: readonly Trajectory[]) =>
    equalRewards(siblings.map(({ grade }) => grade?.reward ?? null));
  return {
    'branches/played': branches.length,
    'branches/reward': meanOf(grades.map(({ reward }) => reward)),
    'branches/success': meanOf(grades.map(({ resolved }) => (resolved ? 1 : 0))),
    'branches/pivots': pivots.size,
    'branches/equal_rewards': [...pivots.values()].filter(isSilent).length,
  };
}
