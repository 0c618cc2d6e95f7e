import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { openModelEndpoint } from '../../src/extension/languageModels/modelEndpoint.js';
import { openRun } from '../../src/trainer/run/runReader.js';
import { acquireTrainLock } from '../../src/trainer/run/trainLock.js';
import { mending, RecordedRun } from '../vscode/fixtures/recordedRun.js';
import { makeWorkspace } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

let repo: string;
let parent: string;
beforeEach(async () => {
  repo = makeWorkspace(temporaryFolder());
  const run = await RecordedRun.create(repo, 'run-1', 1);
  parent = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 0, mending).id;
  await run.end('completed');
});

const cli = (command: string, trajectory: string, ...options: string[]) =>
  runCli([command, '--repo', repo, ...options, '--', 'run-1', trajectory], {
    timeoutMs: 50_000,
  });
const stateOf = (name: string) => path.join(repo, '.whetstone', name);
const byExpert = ['--policy', 'expert'] as const;

const isSandboxed = (await bubblewrapProblem()) === null;
describe.skipIf(!isSandboxed)('branches of a recorded trajectory', () => {
  it('are played on, graded, and found again by the other commands', async () => {
    const { stdout, stderr, code } = await cli('branch', parent, '--turn', '0', '--count', '2', ...byExpert, '--json');
    expect([code, stderr.includes('internal')]).toEqual([0, false]);
    const { branches, ...rest } = JSON.parse(stdout) as { branches: { id: string }[] };
    expect(rest).toMatchObject({ run: 'run-1', turn: 0, policy: 'expert', trajectory: { id: parent } });
    expect(branches).toMatchObject(
      [0, 1].map((k) => ({
        id: `${parent}/turn-0/${k}`,
        reward: expect.any(Number) as number,
        infrastructureError: null,
      })),
    );
    const shown = await runCli(['runs', 'show', '--repo', repo, '--json', 'run-1']);
    const { trajectories } = JSON.parse(shown.stdout) as { trajectories: { id: string; origin?: object }[] };
    expect(trajectories.find(({ id }) => id === branches[1]!.id)?.origin).toEqual({ trajectoryId: parent, turn: 0 });
    const again = await cli('branch', branches[0]!.id, '--turn', '1', '--count', '1', ...byExpert, '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ branches: [{ id: `${branches[0]!.id}/turn-1/0` }] });
    const replayed = await cli('replay', `${branches[0]!.id}/turn-1/0`, '--json');
    expect(JSON.parse(replayed.stdout)).toMatchObject({ same: true });
    const masks = await Promise.all([parent, branches[0]!.id].map((id) => cli('mask', id, '--json')));
    const tokens = masks.map(({ stdout: text }) => (JSON.parse(text) as { tokens: { node: number }[] }).tokens);
    const prompt = (all: { node: number }[]) => all.filter(({ node }) => node < 2);
    expect(prompt(tokens[1]!)).toEqual(prompt(tokens[0]!));
    expect(readdirSync(stateOf('worktrees'))).toEqual([]);
  });

  it('are played by a model that another process lends, and say which', async () => {
    const endpoint = await openModelEndpoint({
      id: 'vendor/a model',
      maxInputTokens: 0,
      countTokens: () => Promise.resolve(1),
      async *ask() {
        yield await Promise.resolve({ kind: 'call', id: 'call-0', name: 'submit', input: {} });
      },
    });
    const lent = ['--policy', `openai:${endpoint.url}`, '--policy-model', 'vendor/a model'];
    const { stdout } = await runCli(
      ['branch', '--repo', repo, '--turn', '0', '--count', '1', ...lent, '--json', '--', 'run-1', parent],
      { timeoutMs: 50_000, env: { OPENAI_API_KEY: endpoint.token } },
    );
    await endpoint.close();
    expect(JSON.parse(stdout)).toMatchObject({ policy: 'vendor/a model', branches: [{ infrastructureError: null }] });
    const branch = await openRun(stateOf(''), 'run-1').trajectory(`${parent}/turn-0/0`);
    expect(branch.origin).toMatchObject({ trajectoryId: parent, turn: 0, policy: 'vendor/a model' });
  });

  it('are refused in one line where nothing can follow, or the repository trains', async () => {
    const late = await cli('branch', parent, '--turn', '99', ...byExpert);
    expect([late.code, late.stderr]).toEqual([2, expect.stringMatching(/has \d+ turns.*Give a turn from 0 to/)]);
    const lock = await acquireTrainLock(stateOf(''), 'run-2');
    const busy = await cli('branch', parent, '--turn', '0', ...byExpert);
    await lock.release();
    expect([busy.code, busy.stderr]).toEqual([2, expect.stringMatching(/already runs.*run-2/)]);
  });
});
