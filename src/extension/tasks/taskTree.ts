import type { Exclusion } from '../../env/tasks/excludedTasks.js';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Task } from '../../trajectory/task.js';
import { wordIn, type Facet } from '../facets.js';
import { t } from '../translate.js';
import type { Repository } from '../repositories.js';

/** How often a task was played, and how often it was solved. */
export interface TaskRecord {
  readonly played: number;
  readonly solved: number;
}

/** A task of a repository and what became of it in the runs. */
export interface KnownTask {
  readonly repository: Repository;
  readonly task: Task;
  readonly record: TaskRecord;
  /** Where a person left it out of training and evaluation. */
  readonly exclusion?: Exclusion;
}

/** Nodes of the view of tasks: task > statement, patches, tests. Long lists of tests come in pages. */
export type TaskTreeNode = KnownTaskNode | StatementNode | PatchNode | TestsNode | TestPageNode | TestNode;

export interface KnownTaskNode extends KnownTask {
  readonly kind: 'knownTask';
  readonly id: string;
  readonly parent?: undefined;
}
export interface StatementNode {
  readonly kind: 'statement';
  readonly id: string;
  readonly parent: KnownTaskNode;
}
export interface PatchNode {
  readonly kind: 'patch';
  readonly id: string;
  readonly parent: KnownTaskNode;
  readonly which: 'start' | 'oracle';
}
export interface TestsNode {
  readonly kind: 'tests';
  readonly id: string;
  readonly parent: KnownTaskNode;
  readonly which: 'FAIL_TO_PASS' | 'PASS_TO_PASS';
}
export interface TestPageNode {
  readonly kind: 'testPage';
  readonly id: string;
  readonly parent: TestsNode;
  /** 0-based position of the first test. */
  readonly start: number;
  readonly tests: readonly string[];
}
export interface TestNode {
  readonly kind: 'test';
  readonly id: string;
  readonly parent: TestsNode;
  readonly test: string;
}

const pageSize = 100;

export function taskNodes(tasks: readonly KnownTask[]): readonly KnownTaskNode[] {
  return tasks.map((known) => ({
    kind: 'knownTask',
    id: JSON.stringify([known.repository.root, known.task.instance_id]),
    ...known,
  }));
}

export function childrenOfTask(node: TaskTreeNode): readonly TaskTreeNode[] {
  switch (node.kind) {
    case 'knownTask':
      return [
        { kind: 'statement', id: `${node.id}/statement`, parent: node },
        { kind: 'patch', id: `${node.id}/oracle`, parent: node, which: 'oracle' },
        ...(node.task.whetstone.start_patch === ''
          ? []
          : [{ kind: 'patch' as const, id: `${node.id}/start`, parent: node, which: 'start' as const }]),
        { kind: 'tests', id: `${node.id}/fail`, parent: node, which: 'FAIL_TO_PASS' },
        { kind: 'tests', id: `${node.id}/pass`, parent: node, which: 'PASS_TO_PASS' },
      ];
    case 'tests': {
      const tests = node.parent.task[node.which];
      if (tests.length <= pageSize) return testNodes(node, tests, 0);
      return Array.from({ length: Math.ceil(tests.length / pageSize) }, (_, index) => {
        const start = index * pageSize;
        const page = tests.slice(start, start + pageSize);
        return { kind: 'testPage', id: `${node.id}/from ${start}`, parent: node, start, tests: page };
      });
    }
    case 'testPage':
      return testNodes(node.parent, node.tests, node.start);
    default:
      return [];
  }
}

const testNodes = (parent: TestsNode, tests: readonly string[], start: number): readonly TestNode[] =>
  tests.map((test, index) => ({ kind: 'test', id: `${parent.id}/${start + index}`, parent, test }));

/** How often each task was played and solved, by its id. Episodes that the machine failed do not count. */
export function recordsOf(headers: readonly TrajectoryHeader[]): ReadonlyMap<string, TaskRecord> {
  const records = new Map<string, { played: number; solved: number }>();
  for (const { taskId, kind, resolved, infrastructureError } of headers) {
    if (infrastructureError !== null || kind === 'demonstration') continue;
    const record = records.get(taskId) ?? { played: 0, solved: 0 };
    record.played += 1;
    if (resolved) record.solved += 1;
    records.set(taskId, record);
  }
  return records;
}

/** What kind of task it is: the operator that put the bug in, else its source. */
export const kindOfTask = ({ whetstone }: Task) => whetstone.operator ?? whetstone.source;

const difficultyWords = {
  'not-tried': () => t('not tried'),
  'never-solved': () => t('never solved'),
  hard: () => t('hard'),
  medium: () => t('medium'),
  easy: () => t('easy'),
  'always-solved': () => t('always solved'),
} as const;

export const difficultyInWords = (record: TaskRecord): string => difficultyWords[difficultyOf(record)]();

/** How hard a task has proved to be. */
export function difficultyOf({ played, solved }: TaskRecord): keyof typeof difficultyWords {
  if (played === 0) return 'not-tried';
  if (solved === 0) return 'never-solved';
  if (solved === played) return 'always-solved';
  const rate = solved / played;
  return rate < 1 / 3 ? 'hard' : rate < 2 / 3 ? 'medium' : 'easy';
}

/** Lines that a unified diff adds and removes, and the files that it names. */
export function sizeOfPatch(patch: string): { added: number; removed: number; files: number } {
  const size = { added: 0, removed: 0, files: 0 };
  let inHunk = false;
  for (const line of patch.split('\n')) {
    if (/^(diff --git|--- )/.test(line) && (!inHunk || line.startsWith('diff'))) inHunk = false;
    if (line.startsWith('@@')) inHunk = true;
    else if (line.startsWith('diff --git')) size.files += 1;
    else if (inHunk && line.startsWith('+')) size.added += 1;
    else if (inHunk && line.startsWith('-')) size.removed += 1;
  }
  return size;
}

const stateWords = { excluded: () => t('excluded'), included: () => t('included') } as const;

export const taskFacets: readonly Facet<KnownTask>[] = [
  { id: 'split', title: () => t('Split'), valuesOf: ({ task }) => [task.whetstone.split] },
  { id: 'source', title: () => t('Source'), valuesOf: ({ task }) => [task.whetstone.source] },
  { id: 'kind', title: () => t('Kind'), valuesOf: ({ task }) => [kindOfTask(task)] },
  {
    id: 'difficulty',
    title: () => t('Difficulty'),
    valuesOf: ({ record }) => [difficultyOf(record)],
    wordOf: wordIn(difficultyWords),
  },
  {
    id: 'state',
    title: () => t('State'),
    valuesOf: ({ exclusion }) => [exclusion ? 'excluded' : 'included'],
    wordOf: wordIn(stateWords),
  },
  { id: 'repository', title: () => t('Repository'), valuesOf: ({ repository }) => [repository.name] },
];
