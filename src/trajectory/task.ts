/** Where a task came from: a bug put in by an operator, or a commit of the repository's history. */
export type TaskSource = 'injection' | 'history';
export type TaskSplit = 'train' | 'heldout';

/** One of several bugs that were put in together. */
export interface InjectedBug {
  readonly operator: string;
  readonly file: string;
  readonly line: number;
  /** Tests that it fails alone; they are all among FAIL_TO_PASS, and no other bug of the task fails just these. */
  readonly breaks: readonly string[];
}

/**
 * A task, shaped as a SWE-bench instance (same field names), with Whetstone's own facts under `whetstone`.
 *
 * The tree that an episode starts from is the tree of `base_commit` (or `whetstone.base_tree`, where the user's
 * uncommitted state was captured) with `whetstone.start_patch` applied: the bug of an injected task, the test patch of
 * a task from history. `patch` is the oracle: applied to the start tree it makes every FAIL_TO_PASS test pass.
 */
export interface Task {
  readonly instance_id: string;
  /** Name of the repository, e.g. the folder's name or `owner/name` of its remote. */
  readonly repo: string;
  readonly base_commit: string;
  readonly environment_setup_commit: string;
  readonly version: string;
  readonly created_at: string;
  readonly problem_statement: string;
  readonly hints_text: string;
  /** The oracle patch: a unified diff against the start tree. */
  readonly patch: string;
  /** The test patch: a unified diff; empty for injected tasks. */
  readonly test_patch: string;
  readonly FAIL_TO_PASS: readonly string[];
  readonly PASS_TO_PASS: readonly string[];
  readonly whetstone: {
    readonly source: TaskSource;
    readonly split: TaskSplit;
    /** Git tree object that the episode starts from, before `start_patch`. */
    readonly base_tree: string;
    readonly start_patch: string;
    /** Name of the test runner's adapter, e.g. `node:test` or `pytest`. */
    readonly runner: string;
    /** Folder that the runner is started in, relative to the repository root (`.` for the root itself). */
    readonly test_root: string;
    /** Files of the tests that the task is graded by, relative to the repository root. */
    readonly test_files: readonly string[];
    /** Injection only: operator's name and where it struck. Never shown to the policy. */
    readonly operator?: string;
    readonly site?: { readonly file: string; readonly line: number };
    /** Injection of several bugs only: each of them, in place of `site`. Never shown to the policy. */
    readonly bugs?: readonly InjectedBug[];
  };
}

/** How many candidates went where. Reasons are short phrases, counted. */
export interface FunnelCounts {
  readonly found: number;
  readonly skipped: Readonly<Record<string, number>>;
  readonly invalid: Readonly<Record<string, number>>;
  readonly flaky: number;
  readonly kept: number;
}

/** What became of all candidates while tasks were built, in all and by where they came from. */
export interface Funnel extends FunnelCounts {
  readonly sources: Readonly<Partial<Record<TaskSource, FunnelCounts>>>;
}
