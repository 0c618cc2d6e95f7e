import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { writeTasks } from '../../src/env/tasks/taskStore.js';
import { openPersonEpisode, type TakeOverPoint } from '../../src/extension/takeover/personEpisode.js';
import { readDemonstrations } from '../../src/trainer/demonstrations/demonstrationsRun.js';
import { openRun } from '../../src/trainer/run/runReader.js';
import { mending, RecordedRun } from '../vscode/fixtures/recordedRun.js';
import { makeWorkspace, taskOf } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';
const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };

let repoRoot: string;
let stateFolder: string;
let recorded: string;
beforeEach(async () => {
  repoRoot = makeWorkspace(temporaryFolder());
  stateFolder = path.join(repoRoot, '.whetstone');
  const ids = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
  const task = { ...taskOf(repoRoot, taskId), ...ids };
  await writeTasks(stateFolder, 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
  const run = await RecordedRun.create(repoRoot, 'run-1', 1);
  recorded = run.rollout(1, taskId, 0, mending).id;
  await run.end('completed');
});

const begin = (point: TakeOverPoint) => openPersonEpisode({ cli: path.resolve('dist/cli.cjs'), repoRoot }, point);
const mend = { path: 'sum.js', old: 'a - b', new: 'a + b' };

const isSandboxed = (await bubblewrapProblem()) === null;
describe.skipIf(!isSandboxed)('an episode that a person plays', () => {
  it('goes on as they act, is graded, and is kept as a demonstration', async () => {
    const episode = await begin({ taskId });
    expect(episode.opened).toMatchObject({ task: taskId, messages: [] });
    expect(episode.opened.tools.map(({ name }) => name)).toContain('submit');
    const looked = await episode.act('open', { path: 'sum.js' }, '');
    expect(looked).toMatchObject({ end: null, observations: [{ name: 'open' }] });
    expect(JSON.stringify(looked.observations)).toContain('a - b');
    expect((await episode.act('nonsense', {}, '')).observations).toMatchObject([
      { content: expect.stringContaining('Unknown tool') as string },
    ]);
    await episode.act('edit', mend, 'a plus is wanted');
    const { end } = await episode.act('submit', {}, '');
    expect(end).toMatchObject({ stopReason: 'submitted', grade: { resolved: true }, run: 'demonstrations' });
    await expect(episode.act('open', { path: 'sum.js' }, '')).rejects.toThrow('The episode is over.');
    await episode.close();
    expect(readdirSync(path.join(stateFolder, 'worktrees'))).toEqual([]);
    const run = openRun(stateFolder, 'demonstrations');
    expect((await run.summary()).status).toBe('completed');
    const { nodes } = await run.trajectory(end!.trajectory!);
    expect(nodes.map(({ message }) => message.role)).toEqual([
      ...['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool'],
    ]);
    const [demonstration] = await readDemonstrations(stateFolder, new Set([taskId]));
    expect(demonstration).toMatchObject({ taskId, sample: 0, given: 0 });
    expect(demonstration.turns[2]).toMatchObject({ thinking: 'a plus is wanted', toolCalls: [{ name: 'edit' }] });
    const replayed = await runCli(['replay', '--json', '--repo', repoRoot, 'demonstrations', end!.trajectory!]);
    expect(JSON.parse(replayed.stdout)).toMatchObject({ same: true });
  });

  it('leaves nothing when it is given up, also in the middle of a command', async () => {
    const episode = await begin({ taskId });
    const slow = episode.act('run_command', { command: 'sleep 60' }, '').catch((error: Error) => error.message);
    await episode.close();
    expect(await slow).toBe('The episode is over.');
    expect(readdirSync(path.join(stateFolder, 'worktrees'))).toEqual([]);
    expect(readdirSync(path.join(stateFolder, 'runs'))).toEqual(['run-1']);
  });

  it('goes on from a turn of a trajectory, whose turns are shown and not the person’s', async () => {
    const first = await begin({ taskId });
    await first.act('edit', mend, '');
    const { end } = await first.act('submit', {}, '');
    await first.close();
    const point = { runId: 'demonstrations', trajectoryId: end!.trajectory!, turn: 1 };
    const episode = await begin(point);
    expect(episode.opened.messages).toMatchObject([
      ...[{ role: 'system' }, { role: 'user' }, { role: 'assistant', calls: [{ name: 'edit' }] }, { role: 'tool' }],
    ]);
    expect((await episode.act('submit', {}, '')).end).toMatchObject({ grade: { resolved: true } });
    await episode.close();
    const demonstrations = await readDemonstrations(stateFolder, new Set([taskId]));
    expect(demonstrations.map(({ given, turns }) => [given, turns.length])).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });

  it('is a demonstration and no evaluation, also where an evaluation’s episode is taken over', async () => {
    const cli = ['eval', '--repo', repoRoot, '--policy', 'expert', '--task', taskId, '--record', '--json'];
    const evaluate = async () =>
      JSON.parse((await runCli(cli)).stdout) as { run: string; trajectoryIds: string[]; metrics: object };
    const before = await evaluate();
    const evaluation = openRun(stateFolder, before.run);
    const recordOf = async () => ({ events: await evaluation.events(), headers: await evaluation.headers() });
    const untouched = await recordOf();
    expect(untouched.events.filter(({ type }) => type === 'evaluation')).toMatchObject([
      { metrics: { episodes: 1, human_interventions: 0 } },
    ]);
    const [trajectoryId] = before.trajectoryIds;
    const episode = await begin({ runId: before.run, trajectoryId, turn: 1 });
    await episode.act('edit', mend, '');
    const { end } = await episode.act('submit', {}, '');
    await episode.close();
    expect(end).toMatchObject({ run: 'demonstrations', grade: { resolved: true } });
    const run = openRun(stateFolder, 'demonstrations');
    const kept = await run.trajectory(end!.trajectory!);
    expect(kept).toMatchObject({ kind: 'demonstration', origin: { policy: 'person', turn: 1 } });
    expect((await run.headers()).map(({ kind }) => kind)).not.toContain('evaluation');
    expect(await run.evaluations()).toEqual([]);
    expect(await recordOf()).toEqual(untouched);
    expect((await evaluate()).metrics).toMatchObject({ episodes: 1, human_interventions: 0 });
  });

  it('is refused in one line where there is nothing to play', async () => {
    await expect(begin({ runId: 'run-1', trajectoryId: recorded, turn: 9 })).rejects.toThrow(/has 2 turns/);
    await expect(begin({ taskId: 'none' })).rejects.toThrow('There is no task "none".');
    // What the tools answer now is not what was recorded: what the person saw would not be so.
    await expect(begin({ runId: 'run-1', trajectoryId: recorded, turn: 1 })).rejects.toThrow(/answered otherwise/);
  });
});
