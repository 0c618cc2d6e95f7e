import type { TestStatus } from '../../trajectory/grade.js';
import type { Said } from '../../trajectory/said.js';

export interface TestResult {
  /** Stable: `<file> > <suite> > <name>`; a repeated name gets ` #2`, ` #3`. File paths are relative to the repository root, with `/`. */
  readonly id: string;
  readonly file: string;
  readonly name: string;
  readonly status: Exclude<TestStatus, 'missing'>;
  /** Why it failed: the assertion's message and the most useful stack lines, normalized; empty where it passed. */
  readonly message: string;
}

export interface TestReport {
  /** `no-tests`: it ran and found none. `crashed`: it ended without complete results. */
  readonly outcome: 'completed' | 'no-tests' | 'crashed' | 'timed-out';
  readonly results: readonly TestResult[];
  /** Raw output of the runner, for people. */
  readonly output: string;
  readonly durationMs: number;
}

/** A runner found in a tree. `root` is the folder it is started in, relative to the tree. */
export interface DetectedRunner {
  readonly runner: TestRunner;
  readonly root: string;
  readonly testFiles: readonly string[];
}

/** A command that, started in the runner's root, succeeds where it is installed, and what to tell the user where it fails. */
export interface RunnerCheck {
  readonly argv: readonly string[];
  readonly problem: Said;
  readonly remedy: Said;
}

/** A compiler's cache, which outlives a run: filled from the trusted base tree, and read by every run (`buildCaches.ts`). */
export interface BuildCache {
  /** Of file-name characters, and no other runner's. */
  readonly name: string;
  /** Path of the compiler. */
  readonly tool: string;
  /** Is the cache filled anew when this file of the tree changes? */
  isInput(path: string): boolean;
  /** Variables that make the tools use the cache in `folder`, where they find their files as links. */
  env(folder: string): Readonly<Record<string, string>>;
  /** The command that fills the cache, started in the runner's root. */
  fill(detected: DetectedRunner): { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

/** One adapter a runner. Reads the runner's machine format, never its prose. */
export interface TestRunner {
  readonly name: string;
  readonly check: RunnerCheck;
  readonly cache?: BuildCache;
  /** Where this runner drives the tree's tests: once for a plain repository, once a package in a monorepo, else nowhere. */
  detect(tree: string): Promise<readonly DetectedRunner[]>;
  /** Is this path (relative to the tree) a test or a file that configures tests, which the policy may not change? */
  isTestFile(path: string): boolean;
  /**
   * Where tests may lie in the sources themselves: the changed text of a file with the original's tests in it, the same
   * text where the change is in no test. Null where it cannot be graded: it does not parse, or tries to change how it is tested.
   */
  restoreTests?(path: string, original: string, changed: string): string | null;
  /** False where a change to a source cannot be graded since it reaches what the tests rest on. */
  isGradable?(path: string, original: string, changed: string): boolean;
  /** The command that runs `files` (all of the detected ones where empty) and writes results under `resultsFolder`. */
  command(
    detected: DetectedRunner,
    files: readonly string[],
    resultsFolder: string,
  ): {
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  /**
   * Parses what the run left under `resultsFolder` (a path on this machine). `tree` is the tree's path as the tests saw
   * it. `key` is what lay in the results folder (`resultsProof.ts`) when the run began, where something did. Null where
   * results are incomplete, or not written by the runner that was given the key.
   */
  parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null>;
}
