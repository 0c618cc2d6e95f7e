import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { folderEnvironment, makeTask, type FakeTests } from '../../env/folderEnvironment.testing.js';
import { systemPrompt } from '../../env/tools/prompts.js';
import { toolSchemas } from '../../env/tools/tools.js';
import type { TestStatus } from '../../trajectory/grade.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { goalReached } from '../data/hindsight.js';
import { oneTurnRollout } from '../oneTurnRollout.testing.js';
import { checkActionMask } from '../rollout/actionMask.js';
import { NodePath } from '../rollout/nodes.js';
import { parseSettings } from '../run/settings.js';
import { fixtureCodec } from '../text/fixtureCodecs.testing.js';
import { gradedBy, relabelFailures } from './hindsightReplay.js';

const codec = fixtureCodec('embedded');
const source = 'low = 1\nhigh = 1\nkept = 1\n';
const tests = ['low', 'high', 'kept'];
const statement = 'Tests fail in demo. Find the bug in the source and fix it.\nFailing: low\n  low is 1\nFailing: high';
const task = makeTask(
  { problem_statement: statement, FAIL_TO_PASS: ['low', 'high'], PASS_TO_PASS: ['kept'] },
  { test_files: ['test.js'] },
);
/** `low` and `high` want 0, `kept` wants 1. */
const runTests: FakeTests = async (root) => {
  const text = await readFile(path.join(root, 'src.js'), 'utf8');
  const passes = (id: string) => text.includes(`${id} = ${id === 'kept' ? 1 : 0}\n`);
  return {
    results: tests.map((id) => ({
      id,
      file: 'test.js',
      name: id,
      status: passes(id) ? 'passed' : 'failed',
      message: '',
    })),
  };
};

/** A rollout that made the source so, and was graded as told. */
function rollout(after: string, statuses: readonly TestStatus[], reward = 0.2): Trajectory {
  const nodes = new NodePath();
  const prompt = [
    { role: 'system', content: systemPrompt(toolSchemas) },
    { role: 'user', content: task.problem_statement },
  ] as const;
  for (const { message, tokenIds } of codec.promptNodes(prompt, toolSchemas)) nodes.addGiven(message, tokenIds);
  const raw = '<tool_call>\n{"name": "submit", "arguments": {}}\n</tool_call>';
  const tokenIds = codec.encodeTurn(raw);
  const logprobs = new Float32Array(tokenIds.length).fill(-1);
  nodes.addSampled(codec.parseTurn(tokenIds), {
    tokenIds,
    logprobs,
    entropies: logprobs.map(() => 1),
    finishReason: 'stop',
  });
  const one = oneTurnRollout(0, nodes, reward);
  const lines = (text: string) => text.split('\n').slice(0, -1);
  const hunk = [...lines(source).map((line) => `-${line}`), ...lines(after).map((line) => `+${line}`)].join('\n');
  return {
    ...one,
    taskId: task.instance_id,
    patch: `--- a/src.js\n+++ b/src.js\n@@ -1,3 +1,3 @@\n${hunk}\n`,
    grade: { ...one.grade!, tests: tests.map((id, i) => ({ id, before: 'failed', after: statuses[i] })) },
  };
}
const halfway = () => rollout('low = 0\nhigh = 1\nkept = 1\n', ['passed', 'failed', 'passed']);

const environments: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const environment of environments.splice(0)) await environment.dispose();
});

async function relabel(rollouts: readonly Trajectory[], before: readonly Trajectory[] = []) {
  const environment = await folderEnvironment({ 'src.js': source, 'test.js': '' }, runTests);
  environments.push(environment);
  const record: Trajectory[] = [];
  const found = await relabelFailures(rollouts, {
    codec,
    trainTasks: new Map([[task.instance_id, task]]),
    grade: gradedBy(environment, parseSettings({}), new AbortController().signal),
    recorded: (id) => Promise.resolve(before.find((one) => one.id === id) ?? null),
    record: (trajectory) => record.push(trajectory),
  });
  return { ...found, record };
}

describe('a failure that reached part of its goal', () => {
  it('becomes a solution of the smaller task, proved by grading, and is recorded', async () => {
    const failure = halfway();
    const { trajectories, refuted, record } = await relabel([failure]);
    expect(refuted).toBe(0);
    expect(record).toEqual(trajectories);
    const [found] = trajectories;
    expect(found).toMatchObject({
      id: `hindsight/${failure.id}`,
      kind: 'demonstration',
      hindsight: { trajectoryId: failure.id, taskId: task.instance_id, goal: ['low'] },
      grade: { resolved: true },
    });
    expect(found.taskId).not.toBe(task.instance_id);
    expect(found.grade!.tests.map(({ id }) => id)).toEqual(['low', 'kept']);
    expect(checkActionMask(found)).toEqual([]);
  });

  it('is told of the smaller task alone, and says what was sampled token by token', async () => {
    const failure = halfway();
    const [found] = (await relabel([failure])).trajectories;
    const [, user] = found.nodes;
    expect(user.message.content).toBe(statement.replace('\nFailing: high', ''));
    const prompt = found.nodes.slice(0, 2).flatMap(({ tokenIds }) => [...tokenIds]);
    expect(codec.decode(prompt)).not.toContain('high');
    expect(found.nodes.slice(2).map(({ tokenIds }) => tokenIds)).toEqual(
      failure.nodes.slice(2).map(({ tokenIds }) => tokenIds),
    );
    // Nobody sampled them after this prompt.
    expect(found.nodes.flatMap(({ logprobs }) => [...logprobs]).every(Number.isNaN)).toBe(true);
  });

  it('is believed only where its patch still does it: what mended by luck is refuted', async () => {
    const lucky = rollout('low = 2\nhigh = 1\nkept = 1\n', ['passed', 'failed', 'passed']);
    expect(await relabel([lucky])).toEqual({ trajectories: [], refuted: 1, record: [] });
  });

  it('is not graded again where an interrupted step has recorded it', async () => {
    const before = (await relabel([halfway()])).record;
    const { trajectories, record } = await relabel([halfway()], before);
    expect(trajectories).toEqual(before);
    expect(record).toEqual([]);
  });
});

describe('nothing is relabelled', () => {
  it.each<[string, Trajectory]>([
    ['that mended nothing', rollout(source, ['failed', 'failed', 'passed'])],
    [
      'that solved its task',
      { ...rollout(source, ['passed', 'passed', 'passed']), grade: { ...halfway().grade!, resolved: true } },
    ],
    ['that broke something', rollout(source, ['passed', 'failed', 'failed'])],
    ['that the machine failed', { ...halfway(), grade: null }],
    ['that is an evaluation', { ...halfway(), kind: 'evaluation' }],
    ['that is a branch', { ...halfway(), origin: { trajectoryId: 'x', turn: 1, nodes: 2, policy: '' } }],
    [
      'of another prompt',
      { ...halfway(), nodes: halfway().nodes.map((node) => ({ ...node, message: { role: 'user', content: '' } })) },
    ],
  ])('of a rollout %s', (_, one) => {
    expect(goalReached(one, task)).toBeNull();
  });

  it('but of those that came half-way', () => {
    expect(goalReached(halfway(), task)).toEqual(['low']);
  });
});
