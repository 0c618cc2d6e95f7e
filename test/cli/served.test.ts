import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openRepository } from '../../src/env/repo/repository.js';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { writeTasks } from '../../src/env/tasks/taskStore.js';
import { makeWorkspace, taskOf } from '../vscode/fixtures/workspace.js';
import { compareRewards } from '../support/rewardAgreement.js';
import { temporaryFolder } from './runCli.js';
import path from 'node:path';

const isSandboxed = (await bubblewrapProblem()) === null;

async function repositoryWithTask(): Promise<string> {
  const repo = makeWorkspace(temporaryFolder());
  const tests = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
  const { stateFolder } = await openRepository(repo);
  const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
  const task = { ...taskOf(repo, 'sums__1'), ...tests };
  await writeTasks(stateFolder, 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
  return repo;
}

it.skipIf(!isSandboxed)(
  'a server among good and bad clients ends in order and leaves no process and no worktree (scripts/bench/soak.mjs, short)',
  async () => {
    const repo = await repositoryWithTask();
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/bench/soak.mjs', repo, '6', '8']);
    expect(JSON.parse(stdout)).toMatchObject({ code: 0, survivors: 0, worktrees: 0, errors: 0 });
    const { episodes, broken, oversized, silent, unread } = JSON.parse(stdout) as Record<string, number>;
    expect(Math.min(episodes, broken, oversized, silent, unread)).toBeGreaterThan(0);
  },
  240_000,
);

it.skipIf(!isSandboxed)(
  'rewards are the same here, through OpenEnv, and by the tests of the Harbor task (scripts/bench/agreement.ts, short)',
  async () => {
    const agreement = await compareRewards(await repositoryWithTask(), path.resolve('dist/cli.cjs'), 10, 2);
    expect(agreement).toMatchObject({ trajectories: 10, differences: [] });
    expect(agreement.rewards).toBeGreaterThan(4);
  },
  240_000,
);
