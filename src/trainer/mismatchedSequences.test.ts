import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message } from '../trajectory/message.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { mismatchedSequences } from './mismatchedSequences.js';
import { oneTurnRollout } from './oneTurnRollout.testing.js';
import { NodePath } from './rollout/nodes.js';

const said: AssistantMessage = { role: 'assistant', content: 'yes', toolCalls: [], raw: 'yes' };
const asked: Message = { role: 'user', content: 'why' };
const sampled = (...ids: number[]) => ({
  tokenIds: Int32Array.from(ids),
  logprobs: new Float32Array(ids.length).fill(-1),
  entropies: new Float32Array(ids.length).fill(1),
  finishReason: 'stop' as const,
});

/** A trajectory of a task; `play` says what comes behind the prompt. */
function lesson(taskId: string, prompt: readonly number[], play: (path: NodePath) => void): Trajectory {
  const path = new NodePath();
  path.addGiven({ role: 'system', content: 'system' }, Int32Array.from(prompt.slice(0, 1)));
  path.addGiven(asked, Int32Array.from(prompt.slice(1)));
  play(path);
  return { ...oneTurnRollout(0, path, 1), taskId };
}
const shown = (lessons: readonly Trajectory[]) =>
  mismatchedSequences(lessons).map(({ tokenIds, actionMask }) => [[...tokenIds], [...actionMask]]);

const twoTurns = (path: NodePath) => {
  path.addSampled(said, sampled(20, 21));
  path.addGiven(asked, Int32Array.of(22));
  path.addSampled(said, sampled(23));
};
const a = lesson('a', [1, 2, 3], twoTurns);
const b = lesson('b', [1, 5], (path) => path.addSampled(said, sampled(30)));
const otherB = lesson('b', [1, 6], (path) => path.addSampled(said, sampled(31), Int32Array.of(32)));

describe('mismatched sequences', () => {
  it('are each answer, once, behind the prompt of another task, with the mask of the answer', () => {
    expect(shown([a, b, otherB])).toEqual([
      [
        [1, 5, 20, 21, 22, 23],
        [0, 0, 1, 1, 0, 1],
      ],
      [
        [1, 2, 3, 30],
        [0, 0, 0, 1],
      ],
      // What was given to the policy to begin with was not sampled behind the other prompt either.
      [
        [1, 2, 3, 32, 31],
        [0, 0, 0, 0, 1],
      ],
    ]);
  });

  it('are none where all are of one task', () => {
    expect(mismatchedSequences([b, otherB])).toEqual([]);
    expect(mismatchedSequences([])).toEqual([]);
  });

  it('take what a branch shares with another trajectory for its prompt', () => {
    const origin = { trajectoryId: 'x', turn: 1, nodes: 4, policy: 'x' };
    expect(shown([{ ...a, origin }, b])).toEqual([
      [
        [1, 5, 23],
        [0, 0, 1],
      ],
      [
        [1, 2, 3, 20, 21, 22, 30],
        [0, 0, 0, 0, 0, 0, 1],
      ],
    ]);
  });

  it('keep the branches of a history that was shown anew, each behind the other prompt', () => {
    const tree = lesson('c', [1, 2, 3], (path) => {
      path.addSampled(said, sampled(20, 21));
      path.startBranch('window', Int32Array.of(1, 2, 3, 40), () => 'anew');
      path.addSampled(said, sampled(41));
    });
    const [{ tokenIds, actionMask, branches }] = mismatchedSequences([tree, b]);
    const texts = branches!.map(({ positions, actionMask: bits }) => [
      [...positions].map((position) => tokenIds[position]),
      [...bits],
    ]);
    expect(texts).toEqual([
      [
        [1, 5, 20, 21],
        [0, 0, 1, 1],
      ],
      [
        [1, 5, 40, 41],
        [0, 0, 0, 1],
      ],
    ]);
    expect([...actionMask]).toEqual([0, 0, 1, 1, 0, 1]);
  });

  it('are no longer than the longest trajectory, so that what fitted the model still does', () => {
    const long = lesson('d', [1, 2, 3, 4, 5], (path) => path.addSampled(said, sampled(50)));
    expect(shown([lesson('a', [1, 2], twoTurns), long])[0]).toEqual([
      [1, 2, 3, 4, 5, 20],
      [0, 0, 0, 0, 0, 1],
    ]);
    const tree = lesson('c', [1, 2], (path) => {
      path.addSampled(said, sampled(20, 21));
      path.startBranch('window', Int32Array.of(1, 2, 40), () => 'anew');
      path.addSampled(said, sampled(41, 42));
    });
    const [{ tokenIds, actionMask, branches }] = mismatchedSequences([tree, long]);
    expect(branches!.map(({ positions }) => [...positions].map((position) => tokenIds[position]))).toEqual([
      [1, 2, 3, 4, 5, 20],
      [1, 2, 3, 4, 5, 40],
    ]);
    expect([...tokenIds].filter((_, position) => actionMask[position] === 1)).toEqual([20]);
  });
});
