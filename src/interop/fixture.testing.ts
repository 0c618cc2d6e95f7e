/** For tests only: a task and a trajectory that hold what formats trip over. The same bytes each time. */
import type { AssistantMessage, Message } from '../trajectory/message.js';
import type { Task } from '../trajectory/task.js';
import type { LearnedTokens, Trajectory, TrajectoryNode } from '../trajectory/trajectory.js';

const bug = (from: string, to: string) =>
  `diff --git a/sum.js b/sum.js\n--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-export const sum = (a, b) => a ${from} b;\n+export const sum = (a, b) => a ${to} b;\n`;

export const injectedTask: Task = {
  instance_id: 'räums__1f2e3d4c.comparison-flip-1'.normalize('NFKD').replace(/\p{M}/gu, ''),
  repo: 'ada/räums',
  base_commit: '1f2e3d4c5b6a79880123456789abcdef01234567',
  environment_setup_commit: '1f2e3d4c5b6a79880123456789abcdef01234567',
  version: '',
  created_at: '2026-11-01T10:00:00Z',
  problem_statement: 'A test fails: sum > adds "1 + 2"\nexpected 3, got -1 😀\n',
  hints_text: '',
  patch: bug('-', '+'),
  test_patch: '',
  FAIL_TO_PASS: ['sum.test.js > sum > adds "1 + 2"'],
  PASS_TO_PASS: ['sum.test.js > sum > of nothing'],
  whetstone: {
    source: 'injection',
    split: 'train',
    base_tree: 'a'.repeat(40),
    start_patch: bug('+', '-'),
    runner: 'node:test',
    test_root: '.',
    test_files: ['sum.test.js'],
    operator: 'arithmetic',
    site: { file: 'sum.js', line: 1 },
  },
};

const assistant = (content: string, extra: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  toolCalls: [],
  raw: content,
  ...extra,
});
const call = (name: string, values: Record<string, unknown>) => ({ id: 'call-0', name, arguments: values });

function node(parent: number | null, message: Message, firstId: number, tokens: number, sampled: boolean) {
  const values = (of: (index: number) => number) => Float32Array.from({ length: tokens }, (_, index) => of(index));
  return {
    parent,
    message,
    tokenIds: Int32Array.from({ length: tokens }, (_, index) => firstId + index),
    actionMask: new Uint8Array(tokens).fill(sampled ? 1 : 0),
    logprobs: values((index) => (sampled ? -0.25 * (index + 1) : NaN)),
    entropies: values((index) => (sampled ? 0.5 * (index + 1) : NaN)),
  } satisfies TrajectoryNode;
}

/** Two branches that share the first turn; a call that is no call; two calls of one id in different turns. */
export const branchedTrajectory: Trajectory = {
  id: `step-000003/${injectedTask.instance_id}/2`,
  kind: 'rollout',
  step: 3,
  taskId: injectedTask.instance_id,
  split: 'train',
  sample: 2,
  seed: 77,
  temperature: 1,
  policyStep: 2,
  sandbox: 'bubblewrap',
  nodes: [
    node(null, { role: 'system', content: 'You fix bugs.' }, 10, 3, false),
    node(0, { role: 'user', content: injectedTask.problem_statement }, 20, 4, false),
    node(
      1,
      assistant('Looking.', {
        thinking: 'Where is it?',
        toolCalls: [call('open', { path: 'sum.js' })],
        raw: '<think>Where is it?</think>Looking.<tool_call>{"name": "open", "arguments": {"path": "sum.js"}}</tool_call>',
      }),
      30,
      5,
      true,
    ),
    node(2, { role: 'tool', toolCallId: 'call-0', name: 'open', content: '1 export const sum' }, 40, 4, false),
    node(
      3,
      assistant('{"name":', { malformedCall: 'a call must stand between tags', raw: '{"name": "edit"' }),
      50,
      2,
      true,
    ),
    node(4, { role: 'tool', toolCallId: 'malformed-2', name: 'error', content: 'Malformed tool call.' }, 60, 3, false),
    node(
      5,
      assistant('', {
        toolCalls: [call('submit', {})],
        raw: '<tool_call>{"name": "submit", "arguments": {}}</tool_call>',
      }),
      70,
      3,
      true,
    ),
    node(3, assistant('I give up.'), 80, 2, true),
  ],
  stopReason: 'submitted',
  infrastructureError: null,
  grade: {
    reward: 0.1,
    resolved: false,
    fraction: 0.5,
    components: {
      tests: { score: 0, weight: 1, reason: 'nothing was changed' },
      similarity: { score: 0.5, weight: 0.2 },
    },
    tests: [{ id: 'sum.test.js > sum > adds "1 + 2"', before: 'failed', after: 'failed' }],
    files: [],
  },
  patch: '',
  statistics: {
    turns: 3,
    toolCalls: { open: 1, submit: 1 },
    malformedCalls: 1,
    unknownTools: 0,
    invalidArguments: 0,
    validCalls: 2,
    sampledTokens: 12,
    totalTokens: 26,
    seconds: 2.5,
  },
};

const total = branchedTrajectory.nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
const fixed = (of: (index: number) => number) => Float32Array.from({ length: total }, (_, index) => of(index));
export const learned: LearnedTokens = {
  trajectoryId: branchedTrajectory.id,
  step: 3,
  advantages: fixed(() => 0.5),
  learnerLogprobs: fixed((index) => -0.125 * index),
  referenceLogprobs: fixed((index) => -0.0625 * index),
  coefficients: fixed(() => 0),
};
