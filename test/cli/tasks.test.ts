import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../src/env/sandbox/bubblewrap.js';
import { writeTasks } from '../../src/env/tasks/taskStore.js';
import { makeWorkspace, taskOf } from '../vscode/fixtures/workspace.js';
import { runCli, temporaryFolder } from './runCli.js';

let repo: string;
beforeEach(async () => {
  repo = makeWorkspace(temporaryFolder());
  const ids = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
  const tasks = [{ ...taskOf(repo, 'sum'), ...ids }];
  const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
  await writeTasks(path.join(repo, '.whetstone'), 'key', { tasks, funnel, quarantined: [], notes: [] });
});

const whetstone = (...args: string[]) => runCli([...args, '--repo', repo]);
const isSandboxed = (await bubblewrapProblem()) === null;

describe.skipIf(!isSandboxed)('whetstone tasks test', () => {
  it('runs the tests in each of the trees and leaves none behind', async () => {
    const statuses = async (tree: string) => {
      const { code, stdout } = await whetstone('tasks', 'test', 'sum', '--tree', tree, '--json');
      const { tests } = JSON.parse(stdout) as { tests: { id: string; status: string; message: string }[] };
      return { code, statuses: tests.map(({ status }) => status), messages: tests.map(({ message }) => message) };
    };
    expect(await statuses('start')).toMatchObject({ code: 0, statuses: ['failed', 'passed'] });
    expect((await statuses('start')).messages[0]).toContain('-1 !== 3');
    expect(await statuses('oracle')).toMatchObject({ code: 0, statuses: ['passed', 'passed'] });
    expect(await statuses('current')).toMatchObject({ code: 0, statuses: ['passed', 'passed'] });
    expect(readdirSync(path.join(repo, '.whetstone', 'worktrees'))).toEqual([]);
  });

  it('tells a person which tests there are, and in one line what does not fit', async () => {
    const { stdout } = await whetstone('tasks', 'test', 'sum', '--only', 'sum.test.js > sum adds');
    expect(stdout).toContain('sum.test.js > sum adds');
    expect(stdout).not.toContain('sum of nothing');
    expect(await whetstone('tasks', 'test', 'sum', '--only', 'other')).toMatchObject({
      code: 2,
      stderr: 'whetstone: "other" is no test of sum. See `whetstone tasks show sum`.\n',
    });
    expect((await whetstone('tasks', 'test', 'sum', '--tree', 'elsewhere')).code).toBe(2);
  });
});

describe('whetstone tasks exclude and include', () => {
  it('leave a task out of an evaluation, say so in the list, and take it in again', async () => {
    expect(await whetstone('tasks', 'exclude', 'sum', '--reason', 'too easy')).toMatchObject({ code: 0 });
    expect((await whetstone('tasks', 'list')).stdout).toContain('sum: too easy');
    expect(JSON.parse((await whetstone('tasks', 'list', '--json')).stdout)).toMatchObject({
      excluded: [{ instance_id: 'sum', reason: 'too easy' }],
    });
    const evaluation = ['eval', '--policy', 'expert', '--split', 'train'];
    expect(await whetstone(...evaluation)).toMatchObject({ code: 2, stderr: expect.stringContaining('no train task') });
    expect(await whetstone('tasks', 'include', 'sum')).toMatchObject({ code: 0 });
    expect(await whetstone('tasks', 'include', 'sum')).toMatchObject({ code: 2 });
    expect((await whetstone('tasks', 'list')).stdout).not.toContain('too easy');
  });

  it('know no task that is not there', async () => {
    expect(await whetstone('tasks', 'exclude', 'none')).toMatchObject({
      code: 2,
      stderr: 'whetstone: There is no task "none". See `whetstone tasks list`.\n',
    });
  });
});
