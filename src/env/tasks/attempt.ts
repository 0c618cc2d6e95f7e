import type { InjectedBug, TaskSource } from '../../trajectory/task.js';

/** A test that the start tree of a task fails, and what it says. */
export interface FailedTest {
  readonly id: string;
  readonly message: string;
}

/** A task before it has its id and its side of the split. Fields are those of the task's record. */
export interface TaskDraft {
  readonly source: TaskSource;
  readonly baseCommit: string;
  readonly baseTree: string;
  readonly date: string;
  readonly startPatch: string;
  readonly testPatch: string;
  readonly patch: string;
  /** What the policy is told, of those failing tests that the task is graded by in the end. */
  readonly statement: (failing: readonly FailedTest[]) => string;
  /** One for each of `failToPass`. */
  readonly failures: readonly FailedTest[];
  readonly failToPass: readonly string[];
  readonly passToPass: readonly string[];
  readonly testFiles: readonly string[];
  /** What the id is made of: a commit and a word. */
  readonly label: { readonly commit: string; readonly kind: string };
  /** Files of the oracle. */
  readonly files: readonly string[];
  /** The function that the oracle mends, for a split finer than by file. */
  readonly scope: string;
  /** Bugs that were put in. */
  readonly bugs?: readonly InjectedBug[];
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
  /** Its result is known, so that trying it takes no time. */
  readonly isDecided?: boolean;
}

/** A candidate whose result is known. */
export const decidedAttempt = (title: string, result: AttemptResult): Attempt => ({
  title,
  run: () => Promise.resolve(result),
  isDecided: true,
});

/** A candidate that is passed over, with the reason. */
export const skippedAttempt = (title: string, skipped: string): Attempt => decidedAttempt(title, { skipped });
