import type { Trajectory } from '../trajectory/trajectory.js';
import type { NodePath } from './rollout/nodes.js';

/** For tests: a record around nodes that were played in one turn. A null reward is that of a machine that failed. */
export function oneTurnRollout(sample: number, path: NodePath, reward: number | null): Trajectory {
  const counts = { turns: 1, toolCalls: {}, malformedCalls: 0, unknownTools: 1, invalidArguments: 0, validCalls: 3 };
  return {
    id: `step-000001/task/${sample}`,
    kind: 'rollout',
    step: 1,
    taskId: 'task',
    split: 'train',
    sample,
    seed: 1,
    temperature: 1,
    policyStep: 0,
    sandbox: 'bubblewrap',
    nodes: path.nodes,
    stopReason: 'submitted',
    infrastructureError: reward === null ? 'No space.' : null,
    grade: reward === null ? null : { reward, resolved: reward === 1, components: {}, tests: [], files: [] },
    patch: '',
    statistics: { ...counts, sampledTokens: path.sampledTokens, totalTokens: path.tokens, seconds: 1 },
  };
}
