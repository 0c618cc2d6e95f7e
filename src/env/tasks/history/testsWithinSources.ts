import type { FileChange } from '../../workspace/workspace.js';

/** The changed text of a source with the original's tests in it; null where it cannot be graded. */
type RestoreTests = (path: string, original: string, changed: string) => string | null;

/** A commit's change of sources in two: the tests that stand within them, and what is then left for the oracle. */
export interface SplitChange {
  /** From the parent's sources to these with the commit's tests in them. */
  readonly tests: readonly FileChange[];
  /** From there to the commit's sources. */
  readonly oracle: readonly FileChange[];
}

/**
 * Splits the change of sources that hold tests (Rust's `#[cfg(test)]`), so that the start tree has the commit's tests, as it
 * has those in files of their own. Null where the tests cannot be told from the rest, or grading would not take the
 * commit's own change as it is.
 */
export function splitTests(changes: readonly FileChange[], restoreTests: RestoreTests): SplitChange | null {
  const tests: FileChange[] = [];
  const oracle: FileChange[] = [];
  for (const change of changes) {
    const { path, before, after } = change;
    const start = before === null || after === null ? before : restoreTests(path, after, before);
    if (after !== null && (start === null) !== (before === null)) return null;
    if (after !== null && restoreTests(path, start ?? '', after) !== after) return null;
    if (start !== before) tests.push({ path, before, after: start });
    if (start !== after || change.executable !== undefined) oracle.push({ ...change, before: start });
  }
  return { tests, oracle };
}
