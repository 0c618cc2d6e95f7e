import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { oneTurnRollout } from '../oneTurnRollout.testing.js';
import { NodePath } from '../rollout/nodes.js';
import { choosePivots } from './pivots.js';

/** A rollout whose turns have tokens of these entropies. */
function rollout(sample: number, turns: readonly (readonly number[])[], reward: number | null = 1): Trajectory {
  const path = new NodePath();
  path.addGiven({ role: 'user', content: 'add is wrong' }, Int32Array.of(1, 2));
  for (const entropies of turns) {
    const known = Float32Array.from(entropies);
    path.addSampled(
      { role: 'assistant', content: 'x', toolCalls: [], raw: 'x' },
      { tokenIds: Int32Array.from(known, () => 3), logprobs: known, entropies: known, finishReason: 'stop' },
    );
    path.addGiven({ role: 'tool', toolCallId: '1', name: 'run', content: 'ok' }, Int32Array.of(4));
  }
  return oneTurnRollout(sample, path, reward);
}
const chosen = (group: readonly Trajectory[], pivots = 8, macroTurns = 1) =>
  choosePivots(group, { pivots, macroTurns }).map(({ parent, turn }) => [parent.sample, turn]);

describe('the pivots of a group', () => {
  it('are the turns that the policy was least sure of, one a rollout, the least sure first', () => {
    const group = [
      rollout(0, [[9], [0.1], [0.5, 0.7], [0.2]]),
      rollout(1, [[9], [0.9, 1.1], [0.2]]),
      rollout(2, [[9], [0.1]]),
    ];
    expect(chosen(group)).toEqual([
      [1, 1],
      [0, 2],
      [2, 1],
    ]);
    expect(chosen(group, 1)).toEqual([[1, 1]]);
    expect(chosen(group, 0)).toEqual([]);
  });

  it('lie behind whole macro-steps', () => {
    const group = [rollout(0, [[1], [2], [0.1], [3], [0.2], [0.3]]), rollout(1, [[1], [2]])];
    expect(chosen(group, 8, 2)).toEqual([[0, 4]]);
    expect(chosen(group, 8, 3)).toEqual([[0, 3]]);
    expect(chosen(group, 8, 6)).toEqual([]);
  });

  it('leave alone rollouts of one turn, those that the machine failed, and turns of unknown tokens', () => {
    expect(chosen([rollout(0, [[1]]), rollout(1, [[1], [2]], null), rollout(2, [[1], []])])).toEqual([]);
  });
});
