import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../env/sandbox/bubblewrap.js';
import { openRepository } from '../../env/repo/repository.js';
import { writeTasks } from '../../env/tasks/taskStore.js';
import { temporaryFolder } from '../../../test/cli/runCli.js';
import { makeWorkspace, taskOf } from '../../../test/vscode/fixtures/workspace.js';
import type { Task } from '../../trajectory/task.js';
import { exportTasks, type TaskFormat } from './exportTasks.js';

const limits = { agentSeconds: 600, testSeconds: 30 };
const git = (folder: string, ...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });

/** A repository with one stored task, exported. */
async function exported(format: TaskFormat) {
  const repo = makeWorkspace(temporaryFolder());
  const task: Task = {
    ...taskOf(repo, 'sums__1.comparison-flip-1'),
    FAIL_TO_PASS: ['sum.test.js > sum adds'],
    PASS_TO_PASS: ['sum.test.js > sum of nothing'],
  };
  const repository = await openRepository(repo);
  const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
  await writeTasks(repository.stateFolder, 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
  const out = path.join(temporaryFolder(), 'out');
  const result = await exportTasks(repository, [task], out, { format, limits });
  return { repo, task, out, result };
}

const rowsOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>);

describe('exported tasks', () => {
  it('of SWE-bench start from a commit that can be cloned, has no history, and takes the oracle', async () => {
    const { out, task } = await exported('swebench');
    const [row] = rowsOf(path.join(out, 'tasks.jsonl'));
    const clone = path.join(temporaryFolder(), 'clone');
    git(out, 'clone', '--quiet', '--branch', `task/${task.instance_id}`, path.join(out, 'repository.git'), clone);
    expect(git(clone, 'log', '--format=%H').trim()).toBe(row.base_commit);
    expect(readFileSync(path.join(clone, 'sum.js'), 'utf8')).toContain('a - b');
    writeFileSync(path.join(clone, 'oracle.patch'), row.patch);
    git(clone, 'apply', 'oracle.patch');
    expect(readFileSync(path.join(clone, 'sum.js'), 'utf8')).toContain('a + b');
    expect(existsSync(path.join(out, 'repository.git/objects/info/alternates'))).toBe(false);
  });

  it('of SWE-smith start from a commit without the bug, which is their patch', async () => {
    const { out, task } = await exported('swesmith');
    const [row] = rowsOf(path.join(out, 'tasks.jsonl'));
    const files = (commit: string) => git(path.join(out, 'repository.git'), 'show', `${commit}:sum.js`);
    expect(files(row.base_commit)).toContain('a + b');
    expect(row.patch).toBe(task.whetstone.start_patch);
  });

  it('have the same bytes each time', async () => {
    const { repo, task, out } = await exported('swebench');
    const again = path.join(temporaryFolder(), 'again');
    await exportTasks(await openRepository(repo), [task], again, { format: 'swebench', limits });
    const rows = (folder: string) => readFileSync(path.join(folder, 'tasks.jsonl'), 'utf8');
    expect(rows(again)).toBe(rows(out));
  });

  it('do not overwrite what lies there', async () => {
    const { repo, task, out } = await exported('trl');
    const repository = await openRepository(repo);
    await expect(exportTasks(repository, [task], out, { format: 'trl', limits })).rejects.toThrow(/is not empty/);
  });
});

const isSandboxed = (await bubblewrapProblem()) === null;
describe.skipIf(!isSandboxed)('the tests of a Harbor task', () => {
  it.each([
    ['the oracle', (task: Task) => task.patch, 1],
    ['a weakened test', () => weakened, 0],
  ])(
    'give %s the reward that it has here',
    async (_, patchOf, resolved) => {
      const { repo, task, out } = await exported('harbor');
      const folder = path.join(out, task.instance_id);
      const app = path.join(temporaryFolder(), 'app');
      execFileSync('cp', ['-R', path.join(folder, 'environment/repository'), app]);
      const patch = path.join(app, '..', 'its.patch');
      writeFileSync(patch, patchOf(task));
      git(app, 'apply', patch);
      // What an agent may leave beside its change.
      mkdirSync(path.join(app, '.git'));
      writeFileSync(path.join(app, 'picture.bin'), Buffer.from([0, 1, 2, 255]));
      const logs = temporaryFolder();
      const cli = path.resolve('dist/cli.cjs');
      const wrapper = path.join(temporaryFolder(), 'whetstone');
      writeFileSync(wrapper, `#!/bin/bash\nexec "${process.execPath}" "${cli}" "$@"\n`, { mode: 0o755 });
      execFileSync('bash', [path.join(folder, 'tests/test.sh')], {
        env: {
          ...process.env,
          PATH: `${path.dirname(wrapper)}:${process.env.PATH}`,
          WHETSTONE_APP: app,
          WHETSTONE_LOGS: logs,
          WHETSTONE_SANDBOX: 'bubblewrap',
        },
        stdio: 'pipe',
      });
      const reward = JSON.parse(readFileSync(path.join(logs, 'reward.json'), 'utf8')) as Record<string, number>;
      const args = ['grade', '--repo', repo, '--task', task.instance_id, '--patch', patch, '--json'];
      const here = JSON.parse(execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8' })) as {
        reward: number;
      };
      expect(reward).toEqual({ reward: here.reward, resolved });
      expect(readdirSync(logs).sort()).toEqual(['grade.json', 'reward.json']);
    },
    180_000,
  );
});

const weakened = `diff --git a/sum.test.js b/sum.test.js
--- a/sum.test.js
+++ b/sum.test.js
@@ -1,5 +1,5 @@
 import assert from 'node:assert/strict';
 import test from 'node:test';
 import { sum } from './sum.js';
-test('sum adds', () => assert.equal(sum(1, 2), 3));
+test('sum adds', () => assert.equal(sum(1, 2), -1));
 test('sum of nothing', () => assert.equal(sum(0, 0), 0));
`;
