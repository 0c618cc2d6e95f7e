/** For tests only: a recorded trajectory and the replay of it, whose worktree is a script. */
import type { Message } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { FileChange, SteppedReplay, SteppedTurn } from '../replay/steppedReplay.js';
import type { Section } from '../trajectory/trajectoryText.js';

export const startFiles: Readonly<Record<string, string>> = { 'a.js': 'a\n', 'src/b.js': 'b\n', 'src/old.js': 'old\n' };

const call = (name: string, args: Record<string, unknown>): Message => ({
  role: 'assistant',
  content: `Let me ${name}.`,
  toolCalls: [{ id: 'call', name, arguments: args }],
  raw: `Let me ${name}.\n<tool_call>…</tool_call>`,
});
const answer = (name: string, content: string): Message => ({ role: 'tool', toolCallId: 'call', name, content });

/** Turns: open, edit (diverges), run_tests (fails), submit. */
const messages: readonly Message[] = [
  { role: 'system', content: 'You mend code.' },
  { role: 'user', content: 'Mend it.' },
  call('open', { path: 'a.js' }),
  answer('open', 'a.js (1 line)\n1: a'),
  call('edit', { path: 'a.js', old: 'a', new: 'A' }),
  answer('edit', 'Edited b.js'),
  call('run_tests', {}),
  answer('run_tests', '1 passed, 1 failed'),
  call('submit', {}),
];

const change = (path: string, after: string | null): FileChange => ({
  path,
  before: startFiles[path] ?? null,
  after,
});
const turn = (number: number, fields: Partial<SteppedTurn> = {}): SteppedTurn => ({
  turn: number,
  same: true,
  recorded: ['as recorded'],
  observed: ['as recorded'],
  failures: [null],
  diff: '',
  changes: [],
  stopReason: null,
  ...fields,
});
const turns: readonly SteppedTurn[] = [
  turn(1),
  turn(2, {
    same: false,
    recorded: ['Edited b.js'],
    observed: ['Edited a.js'],
    diff: '@@ -1 +1 @@\n-Edited b.js\n+Edited a.js',
    changes: [change('a.js', 'A\n'), change('new.js', 'n\n')],
  }),
  turn(3, {
    failures: ['1 passed, 1 failed'],
    changes: [change('a.js', 'A\n'), change('src/old.js', null)],
  }),
  turn(4, { changes: [change('a.js', 'A\n'), change('src/old.js', null)], stopReason: 'submitted' }),
];

/** Counts how often a turn was played. */
export class ScriptedReplay implements SteppedReplay {
  readonly opened = {
    task: 'task-1',
    sandbox: 'bubblewrap',
    turns: turns.length,
    files: Object.keys(startFiles).sort(),
    oracle: [change('src/b.js', 'B\n'), change('a.js', 'A\n')],
  };
  played = 0;
  isClosed = false;

  next(): Promise<SteppedTurn | null> {
    return Promise.resolve(turns[this.played++] ?? null);
  }

  startText(path: string): Promise<string | null> {
    return Promise.resolve(startFiles[path] ?? null);
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }
}

/** The document has a line of its own on top, then two lines a message. */
export const sections: readonly Section[] = messages.map(({ role }, index) => ({
  headerLine: 1 + 2 * index,
  lastLine: 2 + 2 * index,
  role: role === 'assistant' ? 'agent' : role === 'tool' ? 'observation' : 'prompt',
  turn: index < 2 ? null : Math.floor(index / 2),
}));

function nodeOf(message: Message, index: number): TrajectoryNode {
  const sampled = message.role === 'assistant' ? 1 : 0;
  const onSampled = (value: number) => Float32Array.of(...[1, 2].map(() => (sampled ? value : NaN)));
  return {
    parent: index === 0 ? null : index - 1,
    message,
    tokenIds: Int32Array.of(1, 2),
    actionMask: Uint8Array.of(sampled, sampled),
    logprobs: onSampled(-0.5),
    entropies: onSampled(0.25),
  };
}

export const recordedTrajectory: Trajectory = {
  id: 'step-000001/task-1/0',
  kind: 'rollout',
  step: 1,
  taskId: 'task-1',
  split: 'train',
  sample: 0,
  seed: 1,
  temperature: 1,
  policyStep: 0,
  sandbox: 'bubblewrap',
  nodes: messages.map(nodeOf),
  stopReason: 'submitted',
  infrastructureError: null,
  grade: {
    reward: 0.35,
    resolved: false,
    components: { tests: { score: 0.25, weight: 1 }, format: { score: 1, weight: 0.1 } },
    tests: [],
    files: [],
  },
  patch: '',
  statistics: {
    turns: 4,
    toolCalls: {},
    malformedCalls: 0,
    unknownTools: 0,
    invalidArguments: 0,
    validCalls: 4,
    sampledTokens: 8,
    totalTokens: 18,
    seconds: 1,
  },
};
