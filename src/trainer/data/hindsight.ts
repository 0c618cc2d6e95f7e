import type { Grade } from '../../trajectory/grade.js';
import type { Message, ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { TextCodec } from '../text/textCodec.js';

/**
 * Hindsight relabelling (arXiv 1707.01495): a failed rollout that mended some of the failing tests and broke none has solved a
 * smaller task, and can be imitated as such. The tests that it mended; null where it did not come so far, came all the way, or
 * is no whole sequence from the task's own prompt (it branches, or its history was shown anew).
 */
export function goalReached({ kind, grade, nodes, origin }: Trajectory, task: Task): readonly string[] | null {
  if (kind !== 'rollout' || origin !== undefined || grade === null || grade.resolved) return null;
  if (nodes.some(({ parent }, index) => parent !== (index === 0 ? null : index - 1))) return null;
  if (promptOf(nodes).at(-1)?.message.content !== task.problem_statement) return null;
  const after = new Map(grade.tests.map((test) => [test.id, test.after]));
  const passes = (id: string) => after.get(id) === 'passed';
  const mended = task.FAIL_TO_PASS.filter(passes);
  const isPart = mended.length > 0 && mended.length < task.FAIL_TO_PASS.length;
  return isPart && task.PASS_TO_PASS.every(passes) ? mended : null;
}

/** The id of a rollout's relabelled likeness. */
export const relabelledId = ({ id }: Pick<Trajectory, 'id'>) => `hindsight/${id}`;

/**
 * A rollout with the goal that it reached in place of its own: the prompt tells of the smaller task, what was sampled and what
 * was observed stay as they are. Nobody sampled these tokens after this prompt, so it is a demonstration, without
 * log-probabilities.
 * @param task the smaller one (narrowTask.ts)
 * @param grade of the rollout's patch by that task
 */
export function relabelled(
  rollout: Trajectory,
  task: Task,
  grade: Grade,
  codec: TextCodec,
  tools: readonly ToolSchema[],
): Trajectory {
  const before = promptOf(rollout.nodes);
  const messages = before.map(({ message }, index): Message =>
    index === before.length - 1 ? { role: 'user', content: task.problem_statement } : message,
  );
  const prompt = codec.promptNodes(messages, tools).map(({ message, tokenIds }) => ({
    message,
    tokenIds,
    actionMask: new Uint8Array(tokenIds.length),
  }));
  const nodes = [...prompt, ...rollout.nodes.slice(before.length)].map(
    ({ message, forced, tokenIds, actionMask }: Omit<TrajectoryNode, Unsampled>, index): TrajectoryNode => ({
      parent: index === 0 ? null : index - 1,
      message,
      ...(forced === undefined ? {} : { forced }),
      tokenIds,
      actionMask,
      logprobs: new Float32Array(tokenIds.length).fill(NaN),
      entropies: new Float32Array(tokenIds.length).fill(NaN),
    }),
  );
  return {
    ...rollout,
    id: relabelledId(rollout),
    kind: 'demonstration',
    taskId: task.instance_id,
    nodes,
    grade,
    statistics: {
      ...rollout.statistics,
      totalTokens: nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    },
    hindsight: { trajectoryId: rollout.id, taskId: rollout.taskId, goal: task.FAIL_TO_PASS },
  };
}

/** What a relabelled node has anew. */
type Unsampled = 'parent' | 'logprobs' | 'entropies';

/** The nodes before the first turn. */
function promptOf(nodes: Trajectory['nodes']): Trajectory['nodes'] {
  const first = nodes.findIndex(({ message }) => message.role === 'assistant');
  return first < 0 ? nodes : nodes.slice(0, first);
}
