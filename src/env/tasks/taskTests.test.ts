import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { folderEnvironment, makeTask, type FakeTests } from '../folderEnvironment.testing.js';
import type { RepositoryEnvironment } from '../environment.js';
import { runTestsOfTask } from './taskTests.js';

const low = 'test/a.test.js > low';
const high = 'test/b.test.js > high';
const task = makeTask(
  { FAIL_TO_PASS: [low], PASS_TO_PASS: [high] },
  { test_files: ['test/a.test.js', 'test/b.test.js'] },
);

const environments: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const environment of environments.splice(0)) await environment.dispose();
});

/** `low` passes where the source is mended. Remembers which files were run. */
async function open(source = 'broken', outcome: 'completed' | 'crashed' = 'completed') {
  const ran: (readonly string[])[] = [];
  const runTests: FakeTests = async (root, files) => {
    ran.push(files);
    const isMended = (await readFile(path.join(root, 'a.js'), 'utf8')) === 'mended';
    const results = [
      {
        id: low,
        file: 'test/a.test.js',
        name: 'low',
        status: isMended ? 'passed' : 'failed',
        message: 'got 1',
      } as const,
      { id: high, file: 'test/b.test.js', name: 'high', status: 'passed', message: '' } as const,
    ];
    return { outcome, results: results.filter(({ file }) => files.includes(file)), output: 'what it wrote' };
  };
  const environment = await folderEnvironment({ 'a.js': source }, runTests);
  environments.push(environment);
  const whole = { ...environment, openWorkspaceFromTree: () => environment.openWorkspace(task) };
  return { ran, environment: whole as unknown as RepositoryEnvironment };
}
const options = { timeoutMs: 1000 };

describe("a run of a task's tests", () => {
  it('tells of each test whether it ends in the start tree as the task says', async () => {
    const { environment } = await open();
    const { tests, output } = await runTestsOfTask(environment, task, { ...options, tree: 'start' });
    expect(tests).toEqual([
      { id: low, list: 'FAIL_TO_PASS', status: 'failed', message: 'got 1', isAsItMustBe: true },
      { id: high, list: 'PASS_TO_PASS', status: 'passed', message: '', isAsItMustBe: true },
    ]);
    expect(output).toBe('what it wrote');
  });

  it('wants every test to pass in the current files', async () => {
    const wrong = async (source: string) => {
      const { environment } = await open(source);
      const { tests } = await runTestsOfTask(environment, task, { ...options, tree: 'current' });
      return tests.filter(({ isAsItMustBe }) => !isAsItMustBe).map(({ id }) => id);
    };
    expect(await wrong('broken')).toEqual([low]);
    expect(await wrong('mended')).toEqual([]);
  });

  it('runs only the files of the tests that are asked for', async () => {
    const { environment, ran } = await open();
    const { tests } = await runTestsOfTask(environment, task, { ...options, tree: 'start', only: [high] });
    expect(tests.map(({ id }) => id)).toEqual([high]);
    expect(ran).toEqual([['test/b.test.js']]);
  });

  it('knows nothing of any test where the run gave no results', async () => {
    const { environment } = await open('broken', 'crashed');
    const { outcome, tests } = await runTestsOfTask(environment, task, { ...options, tree: 'start' });
    expect(outcome).toBe('crashed');
    expect(tests.map(({ status }) => status)).toEqual(['missing', 'missing']);
  });

  it('refuses a test that is none of the task', async () => {
    const { environment } = await open();
    await expect(
      runTestsOfTask(environment, task, { ...options, tree: 'start', only: ['other'] }),
    ).rejects.toMatchObject({ kind: 'bad-input' });
  });

  it('leaves no tree when it is cancelled', async () => {
    const { environment } = await open();
    const signal = AbortSignal.abort();
    await expect(runTestsOfTask(environment, task, { ...options, tree: 'start', signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });
});
