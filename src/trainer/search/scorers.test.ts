import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { scorers } from './scorers.js';

const given = (message: Message): TrajectoryNode => ({
  parent: null,
  message,
  tokenIds: Int32Array.of(1, 2),
  actionMask: new Uint8Array(2),
  logprobs: new Float32Array(2).fill(NaN),
  entropies: new Float32Array(2).fill(NaN),
});
const tool = (name: string, content: string) => given({ role: 'tool', toolCallId: 'call-0', name, content });
const turn = (logprobs: readonly number[]): TrajectoryNode => ({
  ...given({ role: 'assistant', content: '', toolCalls: [], raw: '' }),
  actionMask: new Uint8Array(logprobs.length).fill(1),
  logprobs: Float32Array.from(logprobs),
});
const trajectory = (nodes: TrajectoryNode[], stopReason: Trajectory['stopReason'] = 'submitted') => ({
  nodes,
  stopReason,
});

const failing = tool('run_tests', '3 passed, 1 failed\nFAIL x');
const passing = tool('run_tests', '4 passed, 0 failed');
const opened = tool('open', '1 a');
const edited = tool('edit', 'Edited "a.js".');
const notEdited = tool('edit', 'Not edited: the text does not occur.');

describe('a scorer', () => {
  it('of tests takes the share of the last run after the last change, and nothing else', () => {
    expect(scorers.tests(trajectory([failing]))).toBe(0.75);
    expect(scorers.tests(trajectory([failing, edited]))).toBe(0);
    expect(scorers.tests(trajectory([failing, edited, passing, notEdited]))).toBe(1);
    expect(scorers.tests(trajectory([failing, tool('run_tests', 'The tests timed out.')]))).toBe(0.75);
    expect(scorers.tests(trajectory([tool('run_command', '9 passed, 0 failed')]))).toBe(0);
    expect(scorers.tests(trajectory([tool('run_tests', '0 passed, 0 failed')]))).toBe(0);
    expect(scorers.tests(trajectory([]))).toBe(0);
  });

  it('of milestones counts what the tools bear witness to', () => {
    expect(scorers.milestones(trajectory([], 'turn-limit'))).toBe(0);
    expect(scorers.milestones(trajectory([failing, opened, edited, passing]))).toBe(1);
    expect(scorers.milestones(trajectory([failing, opened, notEdited, passing]))).toBe(3 / 6);
    expect(scorers.milestones(trajectory([edited, failing], 'turn-limit'))).toBe(2 / 6);
  });

  it('of log-probabilities takes the mean over sampled tokens alone; without any there is nothing to say', () => {
    expect(scorers.logprob(trajectory([opened, turn([-1, -2]), failing, turn([-3])]))).toBe(-2);
    expect(scorers.logprob(trajectory([opened]))).toBe(-Infinity);
  });
});
