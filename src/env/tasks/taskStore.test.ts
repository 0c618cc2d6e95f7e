import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import type { Task } from '../../trajectory/task.js';
import { readBuilt, readTasks, writeTasks, type BuiltTasks } from './taskStore.js';

const task = (instance_id: string): Task => ({
  instance_id,
  repo: 'a/b',
  base_commit: 'c',
  environment_setup_commit: 'c',
  version: '',
  created_at: '2026-01-01T00:00:00Z',
  problem_statement: 'Tests fail.\u2028😀',
  hints_text: '',
  patch: 'diff',
  test_patch: '',
  FAIL_TO_PASS: ['a'],
  PASS_TO_PASS: ['b'],
  whetstone: {
    source: 'injection',
    split: 'train',
    base_tree: 't',
    start_patch: 'p',
    runner: 'node:test',
    test_root: '.',
    test_files: ['a.test.js'],
    operator: 'boundary',
    site: { file: 'a.js', line: 1 },
  },
});
const counts = { found: 3, skipped: { merge: 1 }, invalid: {}, flaky: 0, kept: 2 };
const built: BuiltTasks = {
  tasks: [task('one-1'), task('two-2')],
  funnel: { ...counts, sources: { history: counts } },
  quarantined: ['c'],
  notes: ['A note.'],
};

let folder: string;
const file = () => join(folder, 'tasks', 'tasks.jsonl');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'whetstone-store-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The single line that a person gets. */
async function complaint(): Promise<string> {
  const error: unknown = await readTasks(folder).catch((caught: unknown) => caught);
  if (!(error instanceof WhetstoneError)) throw new Error('it was read');
  expect(error.exitCode).toBe(2);
  expect(error.line).not.toContain('\n');
  return error.line;
}

describe('the store of tasks', () => {
  it('gives back what was stored', async () => {
    await writeTasks(folder, 'key', built);
    expect(await readTasks(folder)).toEqual(built.tasks);
    expect(await readBuilt(folder)).toEqual({ ...built, key: 'key', tasks: built.tasks });
  });

  it('says so where nothing was built', async () => {
    expect(await complaint()).toContain('No tasks have been built');
  });

  it.each<[string, () => void]>([
    ['cut off', () => truncateSync(file(), readFileSync(file()).length - 10)],
    ['instead of 2', () => writeFileSync(file(), `${readFileSync(file(), 'utf8').split('\n')[0]}\n`)],
    ['damaged', () => appendFileSync(file(), '{"instance_id": "three-3"}\n')],
    ['damaged', () => appendFileSync(file(), 'nonsense\n')],
    ['damaged', () => writeFileSync(join(folder, 'tasks', 'funnel.json'), '{')],
    ['No tasks', () => rmSync(join(folder, 'tasks', 'funnel.json'))],
  ])('refuses files that are not whole: %s', async (words, damage) => {
    await writeTasks(folder, 'key', built);
    damage();
    expect(await complaint()).toContain(words);
  });

  it('refuses an id that would lead out of a folder', async () => {
    await writeTasks(folder, 'key', { ...built, tasks: [task('../one'), task('two')] });
    expect(await complaint()).toContain('instance_id');
  });
});
