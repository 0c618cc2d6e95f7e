import { describe, expect, it } from 'vitest';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Task } from '../../trajectory/task.js';
import { fits, choiceOf } from '../facets.js';
import { childrenOfTask, difficultyOf, recordsOf, sizeOfPatch, taskFacets, taskNodes } from './taskTree.js';

const task: Task = {
  instance_id: 'sum__flip',
  repo: 'sums',
  base_commit: '',
  environment_setup_commit: '',
  version: '',
  created_at: '',
  problem_statement: 'mend it',
  hints_text: '',
  patch: 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- old\n+new\n same\n',
  test_patch: '',
  FAIL_TO_PASS: ['adds'],
  PASS_TO_PASS: Array.from({ length: 250 }, (_, index) => `test ${index + 1}`),
  whetstone: {
    source: 'injection',
    split: 'train',
    base_tree: '',
    start_patch: '',
    runner: 'node:test',
    test_root: '.',
    test_files: [],
    operator: 'flip',
  },
};
const repository = { root: '/repo', name: 'repo', stateFolder: '/repo/.whetstone' };
const known = { repository, task, record: { played: 4, solved: 1 } };

const header = (taskId: string, rest: Partial<TrajectoryHeader>): TrajectoryHeader => ({
  id: '',
  kind: 'rollout',
  step: 1,
  taskId,
  sample: 0,
  reward: 0,
  resolved: false,
  stopReason: 'submitted',
  turns: 1,
  tokens: 10,
  seconds: 1,
  tools: [],
  infrastructureError: null,
  sandbox: '',
  ...rest,
});

describe('the tree of tasks', () => {
  it('has what there is to open of a task, and its tests', () => {
    const children = childrenOfTask(taskNodes([known])[0]);
    expect(children.map((node) => ('which' in node ? node.which : node.kind))).toEqual([
      ...['statement', 'oracle', 'FAIL_TO_PASS', 'PASS_TO_PASS'],
    ]);
  });

  it('pages long lists of tests, and loses none', () => {
    const pass = childrenOfTask(taskNodes([known])[0]).at(-1)!;
    const pages = childrenOfTask(pass);
    expect(pages).toHaveLength(3);
    const tests = pages.flatMap(childrenOfTask);
    expect(tests.map((node) => node.kind === 'test' && node.test)).toEqual(task.PASS_TO_PASS);
    expect(new Set(tests.map(({ id }) => id)).size).toBe(250);
  });

  it('counts how often a task was played and solved, without what the machine failed', () => {
    const records = recordsOf([
      header('a', { resolved: true }),
      header('a', { kind: 'evaluation' }),
      header('a', { infrastructureError: 'disk full' }),
      header('a', { kind: 'demonstration', resolved: true }),
      header('b', {}),
    ]);
    expect(records.get('a')).toEqual({ played: 2, solved: 1 });
    expect(records.get('b')).toEqual({ played: 1, solved: 0 });
  });

  it.each([
    [0, 0, 'not-tried'],
    [0, 8, 'never-solved'],
    [1, 8, 'hard'],
    [4, 8, 'medium'],
    [7, 8, 'easy'],
    [8, 8, 'always-solved'],
  ])('calls %i of %i solved %s', (solved, played, word) => expect(difficultyOf({ played, solved })).toBe(word));

  it('is filtered by split, source, kind and difficulty', () => {
    const shows = (facet: string, value: string) => fits(taskFacets, choiceOf([{ facet, value }]), known);
    expect(shows('split', 'train') && shows('kind', 'flip') && shows('difficulty', 'hard')).toBe(true);
    expect(shows('source', 'history')).toBe(false);
  });
});

describe('the size of a patch', () => {
  it('counts lines of hunks, those that look like headers too, and files', () => {
    expect(sizeOfPatch(task.patch)).toEqual({ added: 1, removed: 1, files: 1 });
    expect(sizeOfPatch('')).toEqual({ added: 0, removed: 0, files: 0 });
  });
});
