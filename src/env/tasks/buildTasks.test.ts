import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Said } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import {
  buildJanitor,
  digest,
  runGit,
  TemporaryFolders,
  writeFiles,
  type Files,
} from '../fixtureRepository.testing.js';
import { openEnvironment } from '../openEnvironment.js';
import { bubblewrapProblem } from '../sandbox/bubblewrap.js';
import { findProgram } from '../sandbox/programs.js';
import { buildTasks, defaultBuildOptions, type BuildHooks, type BuildOptions } from './buildTasks.js';
import { OPERATORS } from './injection/operators/index.js';
import { readTasks } from './taskStore.js';
import { verifyTasks } from './verifyTasks.js';

const temporary = new TemporaryFolders();
const sandbox = (await bubblewrapProblem()) === null ? 'bubblewrap' : 'unconfined';
const cargo = await findProgram('cargo', (process.env.PATH ?? '').split(path.delimiter));
let janitorScript = '';
beforeAll(async () => {
  janitorScript = await buildJanitor(await temporary.folder());
});
afterAll(() => temporary.remove());

async function inEnvironment<T>(folder: string, use: (environment: RepositoryEnvironment) => Promise<T>): Promise<T> {
  const environment = await openEnvironment({ path: folder, sandbox, janitorScript });
  try {
    return await use(environment);
  } finally {
    await environment.dispose();
  }
}
/** The whole suite grades each task, however slow the machine is at the moment. */
const testOptions: BuildOptions = { ...defaultBuildOptions, limit: 4, gradingMs: 60_000 };
const build = (folder: string, options: Partial<BuildOptions> = {}, hooks: BuildHooks = {}) =>
  inEnvironment(folder, (environment) => buildTasks(environment, { ...testOptions, ...options }, hooks));

const nodeTests = (name: string, tests: Record<string, string>) =>
  [
    "import test from 'node:test';",
    "import assert from 'node:assert/strict';",
    `import { ${name} } from '../src/${name}.js';`,
    ...Object.entries(tests).map(([title, check]) => `test('${title}', () => ${check});`),
    '',
  ].join('\n');

const CLAMP = `export function clamp(x, low, high) {
  if (x < low) return low;
  if (x > high) return high;
  return x;
}
`;
const SUM = `export function sum(items, start) {
  let total = start ?? 0;
  for (const item of items) {
    total += item;
  }
  return total;
}
`;
const javascript: Files = {
  'package.json': JSON.stringify({ name: 'demo', type: 'module', scripts: { test: 'node --test' } }),
  'src/clamp.js': CLAMP,
  'src/sum.js': SUM,
  'test/clamp.test.js': nodeTests('clamp', {
    'clamps above': 'assert.equal(clamp(9, 0, 5), 5)',
    'clamps below': 'assert.equal(clamp(-9, 0, 5), 0)',
    'keeps inside': 'assert.equal(clamp(3, 0, 5), 3)',
  }),
  'test/sum.test.js': nodeTests('sum', {
    sums: 'assert.equal(sum([1, 2, 3]), 6)',
    'starts elsewhere': 'assert.equal(sum([1, 2], 4), 7)',
    'sums nothing': 'assert.equal(sum([]), 0)',
  }),
};
const python: Files = {
  'demo/__init__.py': '',
  'demo/clamp.py':
    'def clamp(x, low, high):\n    if x < low:\n        return low\n    if x > high:\n        return high\n    return x\n',
  'demo/sum.py':
    'def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n',
  'tests/test_clamp.py':
    'from demo.clamp import clamp\n\n\ndef test_above():\n    assert clamp(9, 0, 5) == 5\n\n\ndef test_below():\n    assert clamp(-9, 0, 5) == 0\n\n\ndef test_inside():\n    assert clamp(3, 0, 5) == 3\n',
  'tests/test_sum.py':
    'from demo.sum import total\n\n\ndef test_sum():\n    assert total([1, 2, 3]) == 6\n\n\ndef test_nothing():\n    assert total([]) == 0\n',
};

/** Lines that a patch adds or takes away, without what stands in every program. */
const changedLines = (patch: string) =>
  patch
    .split('\n')
    .filter((line) => /^[+-](?![+-]{2} )/.test(line))
    .map((line) => line.slice(1).trim())
    .filter((line) => line.length > 3);

function expectNoLeak(task: Task): void {
  const statement = task.problem_statement;
  for (const line of changedLines(task.patch)) expect(statement).not.toContain(line);
  for (const { name } of OPERATORS) expect(statement).not.toContain(name);
  for (const file of brokenFiles(task)) expect(statement).not.toContain(file);
}

const brokenFiles = ({ whetstone: { site, bugs = [] } }: Task) =>
  (site === undefined ? bugs : [site]).map(({ file }) => file);

// The exploits have a test of their own: here, the oracle and its rewrites must get full reward.
const soundOnly = { isTried: () => false };

// Each of these runs a real suite dozens of times.
describe('buildTasks', { timeout: 480_000 }, () => {
  it.each([
    ['JavaScript', javascript, 'node:test'],
    ['Python', python, 'pytest'],
  ])('makes tasks of a %s repository that can be solved', async (_name, files, runner) => {
    const folder = await temporary.repository(files, 'a \'b" é');
    const before = await digest(folder);
    const { tasks, verified, grown } = await inEnvironment(folder, async (environment) => {
      const built = await buildTasks(environment, { ...defaultBuildOptions, limit: 4 });
      return {
        tasks: built.tasks,
        verified: await verifyTasks(environment, built.tasks, soundOnly),
        grown: built.funnel,
      };
    });
    expect(tasks).toHaveLength(4);
    expect(grown.kept).toBe(4);
    expect(new Set(tasks.map((task) => task.instance_id)).size).toBe(4);
    expect(new Set(tasks.map((task) => task.whetstone.split))).toEqual(new Set(['train', 'heldout']));
    for (const task of tasks) {
      expect(task.instance_id).toMatch(/^a-b-e__[0-9a-f]{8}\.[a-z-]+-\d+$/);
      expect(task.FAIL_TO_PASS.length).toBeGreaterThan(0);
      expect(task.PASS_TO_PASS.length).toBeGreaterThan(0);
      expect(task.whetstone.runner).toBe(runner);
      expectNoLeak(task);
    }
    const side = (split: string) =>
      tasks.filter((task) => task.whetstone.split === split).flatMap((task) => brokenFiles(task));
    expect(side('train').filter((file) => side('heldout').includes(file))).toEqual([]);
    for (const one of verified) expect(one).toMatchObject({ failures: [], caught: one.tried });
    expect(await readTasks(path.join(folder, '.whetstone'))).toEqual(tasks);
    expect(await digest(folder)).toEqual(before);
  });

  it('makes a task of a commit that changed source and tests', async () => {
    const folder = await temporary.repository({
      ...javascript,
      'src/clamp.js': 'export const clamp = (x, low, high) => x;\n',
      'test/clamp.test.js': nodeTests('clamp', { 'keeps inside': 'assert.equal(clamp(3, 0, 5), 3)' }),
    });
    await writeFiles(folder, { 'src/clamp.js': CLAMP, 'test/clamp.test.js': javascript['test/clamp.test.js'] });
    await runGit(folder, 'commit', '--quiet', '--all', '--message=Clamp at both ends');
    const { tasks, funnel } = await build(folder, { sources: ['history'] });
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatchObject({
      FAIL_TO_PASS: ['test/clamp.test.js > clamps above', 'test/clamp.test.js > clamps below'],
      PASS_TO_PASS: [
        'test/clamp.test.js > keeps inside',
        'test/sum.test.js > sums',
        'test/sum.test.js > starts elsewhere',
        'test/sum.test.js > sums nothing',
      ],
      base_commit: await runGit(folder, 'rev-parse', 'HEAD~1'),
    });
    expect(tasks[0].problem_statement).toContain('Clamp at both ends');
    expect(tasks[0].whetstone.start_patch).toBe(tasks[0].test_patch);
    expect(funnel).toMatchObject({ found: 2, skipped: { 'root commit': 1 }, kept: 1 });
    const verified = await inEnvironment(folder, (environment) => verifyTasks(environment, tasks, soundOnly));
    expect(verified[0].failures).toEqual([]);
  });

  it.skipIf(cargo === null)("leaves to the start tree the commit's tests that stand within its source", async () => {
    const source = (body: string, tests: string) =>
      `pub fn double(x: i32) -> i32 {\n    ${body}\n}\n\n#[cfg(test)]\nmod tests {\n    use super::double;\n${tests}}\n`;
    const rustTest = (name: string, check: string) => `    #[test]\n    fn ${name}() {\n        ${check};\n    }\n`;
    const zero = rustTest('of_zero', 'assert_eq!(0, double(0))');
    const folder = await temporary.repository({
      'Cargo.toml': '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "demo"\nversion = "0.1.0"\n',
      '.gitignore': 'target\n',
      'src/lib.rs': source('x * x', zero),
    });
    await writeFiles(folder, {
      'src/lib.rs': source('x + x', zero + rustTest('of_three', 'assert_eq!(6, double(3))')),
    });
    await runGit(folder, 'commit', '--quiet', '--all', '--message=Double');
    const { tasks } = await build(folder, { sources: ['history'], validationRuns: 1 });
    expect(tasks).toHaveLength(1);
    expect(tasks[0]).toMatchObject({
      FAIL_TO_PASS: ['src/lib.rs > tests > of_three'],
      PASS_TO_PASS: ['src/lib.rs > tests > of_zero'],
    });
    expect(tasks[0].patch).not.toContain('of_three() {');
    expect(tasks[0].test_patch).toContain('+    fn of_three() {');
    const verified = await inEnvironment(folder, (environment) => verifyTasks(environment, tasks, soundOnly));
    expect(verified[0].failures).toEqual([]);
  });

  it('gives the stored tasks where nothing changed, and new ones where something did', async () => {
    const folder = await temporary.repository(javascript);
    const first = await build(folder, { limit: 2 });
    const messages: string[] = [];
    const onProgress = ({ said }: { said: Said }) => messages.push(said.message);
    expect(await build(folder, { limit: 2 }, { onProgress })).toMatchObject({ tasks: first.tasks });
    expect(messages).toEqual([]);
    await build(folder, { limit: 2, seed: 2 }, { onProgress });
    expect(messages.length).toBeGreaterThan(1);
  });

  it('says in one line where no task survives', async () => {
    const blind = { first: 'assert.ok(true)', second: 'assert.ok(true)' };
    const folder = await temporary.repository({
      ...javascript,
      'test/sum.test.js': nodeTests('sum', blind),
      'test/clamp.test.js': nodeTests('clamp', blind),
    });
    const error: unknown = await build(folder).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(WhetstoneError);
    const { line, exitCode } = error as WhetstoneError;
    expect(line).toMatch(/^No task survived of \d+ candidates; most often: /);
    expect(line).not.toContain('\n');
    expect(exitCode).toBe(2);
  });

  it('is cancelled, leaves no tree behind and stores nothing', async () => {
    const folder = await temporary.repository(javascript);
    const controller = new AbortController();
    const onProgress = ({ tried }: { tried: number }) => {
      if (tried > 0) controller.abort();
    };
    await expect(build(folder, {}, { onProgress, signal: controller.signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
    await expect(readTasks(path.join(folder, '.whetstone'))).rejects.toMatchObject({ kind: 'bad-input' });
  });
});
