import type { SandboxCommand, SandboxResult } from '../sandbox/sandbox.js';
import type { TestReport } from '../testing/testRunner.js';

/** One file as it was and as it is; null where it does not exist on that side. */
export interface FileChange {
  /** Relative to the repository root, with `/`. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Whether the file is to be a program from now on; absent where the change says nothing of it. */
  readonly executable?: boolean;
}

export interface TestOptions {
  /** The task's test files by default. */
  readonly files?: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** A clean tree for one episode (or one grading), with the sandbox around every command that runs in it. */
export interface Workspace {
  /** The tree on this machine. */
  readonly root: string;
  /** The tree's path as its commands see it. */
  readonly mountPath: string;
  readonly sandbox: string;
  run(command: Omit<SandboxCommand, 'cwd'> & { cwd?: string }): Promise<SandboxResult>;
  /** Runs the task's test files (or `files`). */
  runTests(options?: TestOptions): Promise<TestReport>;
  /** Text files that differ from the start tree, sorted by path. Links, binaries, ignored files, `.git`: left out. */
  changes(): Promise<FileChange[]>;
  /** Of these files, those that are no part of the start tree and that git ignores there: what was built or installed. */
  ignored(files: readonly string[]): Promise<ReadonlySet<string>>;
  /** Deletes the tree. Safe to call twice. */
  dispose(): Promise<void>;
}
