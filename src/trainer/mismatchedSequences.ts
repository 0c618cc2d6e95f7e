import type { Trajectory, TrajectoryNode } from '../trajectory/trajectory.js';
import type { TrainingSequence } from './model/policy.js';
import { learnedMasks, trainingSequence } from './rollout/nodes.js';

/**
 * The answer of each trajectory behind the prompt of one of another task: what KTO's reference point is estimated from where the
 * answers are not the policy's own (arXiv 2402.01306, section 4; TRL's `KL_completion`). The answers are the same as those that are
 * learned from, each once. None where all are of one task: an answer behind its own prompt is the reward that the point is held
 * against. No sequence is longer than the longest trajectory is as it stands, so that all fit the model; what is beyond is left out.
 * @param lessons each with at least one token that is learned from
 */
export function mismatchedSequences(lessons: readonly Trajectory[]): TrainingSequence[] {
  const longest = Math.max(0, ...lessons.map((lesson) => lengthOf(trainingSequence(lesson))));
  return lessons.flatMap((lesson, index) => {
    const others = lessons.filter(({ taskId }) => taskId !== lesson.taskId);
    if (others.length === 0) return [];
    return [shortened(trainingSequence({ nodes: behindPromptOf(others[index % others.length], lesson) }), longest)];
  });
}

/** The prompt is all that the policy had seen when it said the first thing that is learned from. */
function behindPromptOf(asked: Trajectory, answering: Trajectory): TrajectoryNode[] {
  const prompt: TrajectoryNode[] = [];
  for (let at = asked.nodes[firstLearned(asked)].parent; at !== null; at = asked.nodes[at].parent) {
    const node = asked.nodes[at];
    prompt.unshift({ ...node, actionMask: new Uint8Array(node.actionMask.length) });
  }
  const nodes = prompt.map((node, index) => ({ ...node, parent: index === 0 ? null : index - 1 }));
  const from = firstLearned(answering);
  // What was shown anew from within the own prompt goes on behind the whole of the other one.
  const parentOf = (parent: number | null) =>
    parent === null || parent < from ? prompt.length - 1 : parent - from + prompt.length;
  return [...nodes, ...answering.nodes.slice(from).map((node) => ({ ...node, parent: parentOf(node.parent) }))];
}

const firstLearned = (trajectory: Trajectory) => learnedMasks(trajectory).findIndex((mask) => mask.includes(1));

const lengthOf = ({ tokenIds, branches }: TrainingSequence) =>
  branches === undefined ? tokenIds.length : Math.max(...branches.map(({ positions }) => positions.length));

/** The first `most` tokens; of a tree those of each branch. */
function shortened({ tokenIds, actionMask, branches }: TrainingSequence, most: number): TrainingSequence {
  if (branches === undefined) return { tokenIds: tokenIds.subarray(0, most), actionMask: actionMask.subarray(0, most) };
  const kept = branches.map((branch) => ({
    positions: branch.positions.subarray(0, most),
    actionMask: branch.actionMask.subarray(0, most),
  }));
  const scored = new Uint8Array(actionMask.length);
  for (const branch of kept) {
    branch.positions.forEach((position, t) => (scored[position] |= branch.actionMask[t]));
  }
  return { tokenIds, actionMask: scored, branches: kept };
}
