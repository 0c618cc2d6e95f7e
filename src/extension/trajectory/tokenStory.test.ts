import { expect, it } from 'vitest';
import type { TrajectoryNode } from '../../trajectory/trajectory.js';
import { tokenStory } from './tokenStory.js';

/** A turn whose first two of three tokens exploration forced. */
const node: TrajectoryNode = {
  parent: 0,
  message: { role: 'assistant', content: '', toolCalls: [], raw: 'abc' },
  forced: 2,
  tokenIds: Int32Array.of(1, 2, 3),
  actionMask: Uint8Array.of(0, 0, 1),
  logprobs: Float32Array.of(NaN, NaN, -1),
  entropies: Float32Array.of(NaN, NaN, 0.5),
};

function maskOf(of: TrajectoryNode, at: number): string | undefined {
  const token = { node: of, at, index: at, start: at, end: at + 1, text: 'x', role: 'agent' as const };
  const rows = tokenStory(token, 'rollout', { learned: null, settings: null }).flat();
  return rows.find(([name]) => name === 'mask')?.[1];
}

it('tells of each token why its mask is what it is', () => {
  expect(maskOf(node, 1)).toMatch(/^0: .*exploration forced this tool/);
  expect(maskOf(node, 2)).toBe('1: sampled by the policy');
  expect(maskOf({ ...node, message: { role: 'user', content: '' }, forced: undefined }, 1)).toBe(
    '0: not sampled, not trained on',
  );
});
