import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bubblewrapProblem } from '../../env/sandbox/bubblewrap.js';
import { openEnvironment } from '../../env/openEnvironment.js';
import { openRepository } from '../../env/repo/repository.js';
import { temporaryFolder } from '../../../test/cli/runCli.js';
import { makeWorkspace, taskOf } from '../../../test/vscode/fixtures/workspace.js';
import { exportTasks } from '../export/exportTasks.js';
import { readForeignTasks, testId } from '../readers/tasks.js';
import { importTasks } from './importTasks.js';
import { takeObjects } from './takeObjects.js';

const isSandboxed = (await bubblewrapProblem()) === null;

describe('rows of tasks', () => {
  it('name tests as pytest does, and are read by Whetstone’s names', () => {
    expect(testId('tests/test_a.py::TestB::test_c[x::y]')).toBe('tests/test_a.py > TestB > test_c[x::y]');
    expect(testId('a.test.js > sum > adds')).toBe('a.test.js > sum > adds');
  });

  it.each([
    ['{"instance_id": "../x", "patch": "p", "FAIL_TO_PASS": ["a"]}', /instance_id is none/],
    ['{"instance_id": "x", "patch": "p", "FAIL_TO_PASS": "[]"}', /FAIL_TO_PASS names no test/],
    ['[{"instance_id": "x", "FAIL_TO_PASS": ["a"]}, 1]', /row 1: it has no patch/],
    ['{"instance_id": "x", "patch": "p", "FAIL_TO_PASS": [1]}', /holds something that is no text/],
  ])('that are broken give one line: %s', (text, line) => {
    expect(() => readForeignTasks(text, 'rows.json')).toThrow(line);
  });
});

describe.skipIf(!isSandboxed)('imported tasks', () => {
  it('are tried: what was exported is taken back, and a row that is not true is refused with the reason', async () => {
    const repo = makeWorkspace(temporaryFolder());
    const task = {
      ...taskOf(repo, 'sums__1'),
      FAIL_TO_PASS: ['sum.test.js > sum adds'],
      PASS_TO_PASS: ['sum.test.js > sum of nothing'],
    };
    const repository = await openRepository(repo);
    const limits = { agentSeconds: 60, testSeconds: 60 };
    const rows = async (format: 'swebench' | 'swesmith') => {
      const out = path.join(temporaryFolder(), 'out');
      await exportTasks(repository, [task], out, { format, limits });
      await takeObjects(repository, path.join(out, 'repository.git'));
      return readForeignTasks(readFileSync(path.join(out, 'tasks.jsonl'), 'utf8'), 'tasks.jsonl');
    };
    const [bench] = await rows('swebench');
    const [smith] = await rows('swesmith');
    const lie = { ...bench, instanceId: 'lie', failToPass: ['sum.test.js > sum of nothing'] };
    const gone = { ...bench, instanceId: 'gone', baseCommit: '1'.repeat(40) };
    const environment = await openEnvironment({
      path: repo,
      sandbox: 'bubblewrap',
      janitorScript: path.resolve('dist/janitor.cjs'),
    });
    try {
      const options = { timeoutMs: 60_000, signal: new AbortController().signal, onProgress: () => undefined };
      const foreign = [{ ...bench, instanceId: 'bench' }, { ...smith, instanceId: 'smith' }, lie, gone];
      const { tasks, refused } = await importTasks(environment, foreign, options);
      expect(refused).toEqual([
        { instanceId: 'lie', reason: 'sum.test.js > sum of nothing passes before the oracle' },
        { instanceId: 'gone', reason: expect.stringContaining('is not a commit of') as string },
      ]);
      expect(tasks.map(({ instance_id, whetstone: { source } }) => [instance_id, source])).toEqual([
        ['bench', 'history'],
        ['smith', 'injection'],
      ]);
      expect(tasks[1].patch).toContain('+export const sum = (a, b) => a + b;');
    } finally {
      await environment.dispose();
    }
  }, 180_000);
});
