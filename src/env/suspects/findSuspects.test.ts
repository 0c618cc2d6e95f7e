import { describe, expect, it } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import { makeTask } from '../folderEnvironment.testing.js';
import { findSuspects, type StartTree } from './findSuspects.js';

const FILES = {
  'src/deep.js': 'export function deep(a) {\n  return a + 1;\n}\n',
  'src/near.js': "import { deep } from './deep.js';\nexport function near(a) {\n  return deep(a) < 1;\n}\n",
  'src/other.js': 'export function other(a) {\n  return a + 1;\n}\n',
  'test/near.test.js': "import { near } from '../src/near.js';\ntest('is near', () => near(1));\n",
  'test/other.test.js': "import { other } from '../src/other.js';\ntest('is other', () => other(1));\n",
};
const both = ['test/near.test.js', 'test/other.test.js'];
const taskOf = (failing: readonly string[], files: readonly string[] = both): Task =>
  makeTask({ FAIL_TO_PASS: failing, problem_statement: '' }, { test_files: files });
const treeOf = (files: Readonly<Record<string, string>>): StartTree => ({
  paths: () => Promise.resolve(Object.keys(files)),
  read: (path) => Promise.resolve(Object.hasOwn(files, path) ? files[path] : null),
});
const names = async (task: Task, files: Readonly<Record<string, string>>) =>
  (await findSuspects(task, treeOf(files))).map(({ name }) => name);

describe('the suspects of a task', () => {
  it('are the functions of what the failing tests import, themselves or through others', async () => {
    expect(await names(taskOf(['test/near.test.js > is near']), FILES)).toEqual(['near', 'deep']);
    expect(await names(taskOf(['test/other.test.js > is other']), FILES)).toEqual(['other']);
  });

  it('are those of all tests where the failing ones name no file, and of all sources where nothing is imported', async () => {
    expect((await names(taskOf(['gone']), FILES)).sort()).toEqual(['deep', 'near', 'other']);
    const loose = { ...FILES, 'test/near.test.js': "test('is near', () => run('near'));\n" };
    expect((await names(taskOf(['test/near.test.js > is near']), loose)).sort()).toEqual(['deep', 'near', 'other']);
    expect(await names(taskOf([], []), {})).toEqual([]);
    expect(await names(taskOf(['a.js > b'], ['a.js']), {})).toEqual([]);
  });

  it('are searched once, and then the same in every tree', async () => {
    const task = taskOf(['test/near.test.js > is near']);
    const [first, second] = await Promise.all([findSuspects(task, treeOf(FILES)), findSuspects(task, treeOf({}))]);
    expect(second).toBe(first);
    expect(await findSuspects(task, treeOf({}))).toBe(first);
  });

  it('are searched again where the first search failed or was cancelled, by who waits for it in its own tree', async () => {
    const task = taskOf(['test/near.test.js > is near']);
    const broken: StartTree = { ...treeOf(FILES), read: () => Promise.reject(new Error('gone')) };
    await expect(findSuspects(task, broken)).rejects.toThrow('gone');
    const stop = new AbortController();
    const stopped = findSuspects(task, treeOf(FILES), stop.signal);
    const waiting = Promise.all([1, 2].map(() => findSuspects(task, treeOf(FILES))));
    stop.abort();
    await expect(stopped).rejects.toMatchObject({ kind: 'cancelled' });
    const [one, two] = await waiting;
    expect(one.map(({ name }) => name)).toEqual(['near', 'deep']);
    expect(two).toBe(one);
  });

  it('are none of tests, of generated or huge files, and no more than can be looked at', async () => {
    const line = `export const far = (a) => a + 1;\n`;
    const files = {
      ...FILES,
      'src/near.js':
        "import './min.js';\nimport './made.js';\nimport './huge.js';\nimport './near.test.js';\nexport const near = (a) => a + 1;\n",
      'src/min.js': `${line}// ${'x'.repeat(1200)}\n`,
      'src/made.js': `// @generated\n${line}`,
      'src/huge.js': line + '// far\n'.repeat(40_000),
      'src/near.test.js': line,
    };
    expect(await names(taskOf(['test/near.test.js > is near']), files)).toEqual(['near']);
    const many = Array.from({ length: 1000 }, (_, index) => `pkg/f${index}.go`);
    const tree = treeOf({ 'pkg/a_test.go': 'package pkg\n\nfunc TestA(t *testing.T) {\n\tF1(1)\n}\n' });
    const read = new Set<string>();
    const huge: StartTree = {
      paths: () => Promise.resolve([...many, 'pkg/a_test.go']),
      read: (path) => {
        read.add(path);
        return tree.read(path);
      },
    };
    expect(await findSuspects(taskOf(['pkg/a_test.go > TestA'], ['pkg/a_test.go']), huge)).toEqual([]);
    expect(read.size).toBe(401);
  });

  it('may lie in files with names that every object has', async () => {
    const files = { ...FILES, constructor: 'x', 'lib/toString': 'x', __proto__: 'x', valueOf: '{}' };
    expect(await names(taskOf(['test/near.test.js > is near']), files)).toEqual(['near', 'deep']);
  });

  it('let others have their turn while they are searched', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await names(taskOf(['test/near.test.js > is near']), {
      ...FILES,
      'src/near.js': `${FILES['src/near.js']}// new\n`,
    });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});
