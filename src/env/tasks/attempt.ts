import type { TaskSource } from '../../trajectory/task.js';

/** A task before it has its id and its side of the split. Fields are those of the task's record. */
export interface TaskDraft {
  readonly source: TaskSource;
  readonly baseCommit: string;
  readonly baseTree: string;
  readonly date: string;
  readonly startPatch: string;
  readonly testPatch: string;
  readonly patch: string;
  readonly statement: string;
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
  readonly testFiles: readonly string[];
  /** What the id is made of: a commit and a word. */
  readonly label: { readonly commit: string; readonly kind: string };
  /** Files of the oracle. */
  readonly files: readonly string[];
  /** The function that the oracle mends, for a split finer than by file. */
  readonly scope: string;
  readonly site?: { readonly file: string; readonly line: number };
}

export type AttemptResult =
  | { readonly draft: TaskDraft }
  | { readonly invalid: string }
  | { readonly skipped: string }
  | { readonly flaky: true };

/** One candidate: what it is, for people, and the work of trying it. */
export interface Attempt {
  readonly title: string;
  run(): Promise<AttemptResult>;
}
