import { describe, expect, it } from 'vitest';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Message } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { groupTree, type Rollout } from './groupTree.js';

const user: Message = { role: 'user', content: 'mend it' };
const call = (name: string, path?: string): Message => ({
  role: 'assistant',
  content: '',
  raw: name,
  toolCalls: [{ id: '1', name, arguments: path === undefined ? {} : { path } }],
});
const answer = (content: string): Message => ({ role: 'tool', toolCallId: '1', name: 'open', content });

function rollout(sample: number, advantage: number | null, messages: readonly Message[], ids?: number[][]): Rollout {
  const nodes = messages.map((message, index) => ({
    parent: index === 0 ? null : index - 1,
    message,
    tokenIds: Int32Array.from(ids?.[index] ?? [...JSON.stringify(message)].map((letter) => letter.charCodeAt(0))),
  }));
  const trajectory = { id: `r/${sample}`, sample, nodes } as unknown as Trajectory;
  const header = { resolved: sample === 0, infrastructureError: null, reward: sample, stopReason: 'submitted' };
  return { trajectory, header: header as TrajectoryHeader, advantage };
}

describe('the picture of a group', () => {
  const tree = groupTree([
    rollout(0, 1, [user, call('open', 'a.js'), answer('one'), call('submit')]),
    rollout(1, -0.5, [user, call('open', 'a.js'), answer('one'), call('edit', 'a.js'), answer('done')]),
    rollout(2, -0.5, [user, call('run_tests')]),
  ]);
  const shown = tree.map(({ label, passages }) => `${label} ${passages.map((passage) => passage.rollout).join()}`);

  it('has what rollouts share once, and parts where they part', () => {
    expect(shown).toEqual([
      ...['user 1,2,3', 'open 1,2', 'open 1,2', 'submit 1', 'solved 1'],
      ...['edit 2', 'open 2', 'failed 2', 'run_tests 3', 'failed 3'],
    ]);
  });

  it('gives each node the mean advantage of those that pass', () => {
    expect(tree[0].advantage).toBeCloseTo(0);
    expect(tree[1].advantage).toBe(0.25);
    expect(tree.at(-1)?.advantage).toBe(-0.5);
  });

  it('stands leaves on rows of their own and parents between their children', () => {
    const leaves = tree.filter((_, at) => tree.every(({ parent }) => parent !== at));
    expect(leaves.map(({ row }) => row)).toEqual([0, 1, 2]);
    expect(tree[2].row).toBe(0.5);
    expect(tree[0].row).toBe(1.25);
    expect(tree.every(({ parent, column }) => column === (parent === null ? 0 : tree[parent].column + 1))).toBe(true);
  });

  it('finds a node again in each rollout, and the file that it works on', () => {
    expect(tree[2].passages).toEqual([
      { trajectoryId: 'r/0', rollout: 1, message: 2 },
      { trajectoryId: 'r/1', rollout: 2, message: 2 },
    ]);
    expect(tree[1].file).toBe('a.js');
    expect(tree[3].file).toBeNull();
  });

  it('parts where the text is the same and the tokens are not', () => {
    const parted = groupTree([rollout(0, null, [user], [[1, 2]]), rollout(1, null, [user], [[12]])]);
    expect(parted.filter(({ role }) => role === 'prompt')).toHaveLength(2);
    expect(parted.every(({ advantage }) => advantage === null)).toBe(true);
  });

  it('has only the beginning of what is long: of messages, of tools that there are not, of why the machine failed', () => {
    const long = 'x'.repeat(100_000);
    const played = rollout(0, null, [user, call(long), { ...answer(long), name: long } as Message]);
    const failed = { ...played, header: { ...played.header, infrastructureError: long } };
    for (const { label, detail, text } of groupTree([failed])) {
      expect(label.length).toBeLessThanOrEqual(80);
      expect(detail.length).toBeLessThanOrEqual(80);
      expect(text.length).toBeLessThanOrEqual(4000);
    }
  });

  it('is empty of no rollouts', () => expect(groupTree([])).toEqual([]));
});
