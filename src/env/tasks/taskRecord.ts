import type { Task, TaskSplit } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import type { TaskDraft } from './attempt.js';

/** Gives each draft its id: repository, commit, kind, and a number within the kind. */
export function numbered(drafts: readonly TaskDraft[]): { draft: TaskDraft; id: (repo: string) => string }[] {
  const counts = new Map<string, number>();
  return drafts.map((draft) => {
    const { commit, kind } = draft.label;
    const name = `${commit.slice(0, 8)}.${kind}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { draft, id: (repo) => `${fileName(repo)}__${name}-${count}` };
  });
}

/** Only what every file system takes. */
function fileName(repo: string): string {
  const plain = repo
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? 'repository' : plain.slice(0, 60);
}

/** The task's record. */
export function toTask(
  environment: RepositoryEnvironment,
  draft: TaskDraft,
  id: (repo: string) => string,
  split: TaskSplit,
): Task {
  const { repository, suites } = environment;
  return {
    instance_id: id(repository.name),
    repo: repository.name,
    base_commit: draft.baseCommit,
    environment_setup_commit: draft.baseCommit,
    version: '',
    created_at: draft.date,
    problem_statement: draft.statement(draft.failures),
    hints_text: '',
    patch: draft.patch,
    test_patch: draft.testPatch,
    FAIL_TO_PASS: draft.failToPass,
    PASS_TO_PASS: draft.passToPass,
    whetstone: {
      source: draft.source,
      split,
      base_tree: draft.baseTree,
      start_patch: draft.startPatch,
      runner: suites.name,
      test_root: suites.root,
      test_files: draft.testFiles,
      ...injected(draft),
    },
  };
}

function injected({ bugs = [], label }: TaskDraft): Pick<Task['whetstone'], 'operator' | 'site' | 'bugs'> {
  if (bugs.length === 0) return {};
  const [{ file, line }] = bugs;
  return { operator: label.kind, ...(bugs.length === 1 ? { site: { file, line } } : { bugs }) };
}
