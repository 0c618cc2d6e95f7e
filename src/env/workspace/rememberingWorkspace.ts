import { createHash } from 'node:crypto';
import type { SandboxResult } from '../sandbox/sandbox.js';
import type { TestReport } from '../testing/testRunner.js';
import type { EpisodeWorkspace } from './episodeWorkspace.js';
import type { MadeRun, RunMemory } from './runMemory.js';
import { differingPaths, digestOf, type TreeState } from './treeState.js';
import type { FileChange, TestOptions, Workspace } from './workspace.js';

/**
 * A workspace whose test runs are answered from a memory, and remembered in it. That holds as long as no program has left
 * anything in its tree: from `run` on, and from a test run on that left a trace, each run is made and none remembered, for
 * what decides it may lie where no comparison finds it.
 */
export class RememberingWorkspace implements Workspace {
  readonly root: string;
  readonly mountPath: string;
  readonly sandbox: string;
  private readonly closing = new AbortController();
  private readonly asking = new Set<Promise<unknown>>();
  /** Has a command run that is not the tests? */
  private isCommanded = false;
  /** Has a test run left something, or is one under way? */
  private hasTraces = false;
  private disposal: Promise<void> | null = null;

  constructor(
    private readonly inner: EpisodeWorkspace,
    private readonly memory: RunMemory,
  ) {
    ({ root: this.root, mountPath: this.mountPath, sandbox: this.sandbox } = inner);
  }

  run(command: Parameters<Workspace['run']>[0]): Promise<SandboxResult> {
    this.isCommanded = true;
    return this.inner.run(command);
  }

  async runTests(options: TestOptions = {}): Promise<TestReport> {
    const signal = AbortSignal.any([this.closing.signal, ...(options.signal ? [options.signal] : [])]);
    const asking = this.ask({ ...options, signal }, signal);
    this.asking.add(asking);
    try {
      return await asking;
    } finally {
      this.asking.delete(asking);
    }
  }

  changes(): Promise<FileChange[]> {
    return this.inner.changes();
  }

  ignored(files: readonly string[]): Promise<ReadonlySet<string>> {
    return this.inner.ignored(files);
  }

  dispose(): Promise<void> {
    this.disposal ??= this.remove();
    return this.disposal;
  }

  private async remove(): Promise<void> {
    this.closing.abort();
    // Others may wait for a run that goes on in this tree.
    await Promise.allSettled(this.asking);
    await this.inner.dispose();
  }

  private async ask(options: TestOptions, signal: AbortSignal): Promise<TestReport> {
    const before = this.isCommanded || this.hasTraces ? null : await this.known();
    if (before === null) return this.memory.alone(() => this.inner.runTests(options));
    const suite = createHash('sha256').update(
      JSON.stringify([this.memory.purpose, await this.inner.testPlan(options)]),
    );
    const key = { suite: suite.digest('hex'), tree: digestOf(before) };
    const { made, isRemembered } = await this.memory.ask(key, signal, (whileWanted) =>
      this.make({ ...options, signal: whileWanted }, before),
    );
    return isRemembered ? { ...inTree(this.mountPath, made), durationMs: 0 } : made.report;
  }

  private async make(options: TestOptions, before: TreeState): Promise<MadeRun> {
    this.hasTraces = true;
    const report = await this.inner.runTests(options);
    // The tree of a grade is thrown away behind its run.
    const traces = this.memory.purpose === 'graded' ? [] : await this.tracesSince(before);
    this.hasTraces = traces === null || traces.length > 0 || this.inner.hasOwnCaches;
    const canBeShared = traces !== null && !this.isCommanded && (await this.areHidden(traces));
    return { report, mountPath: this.mountPath, canBeShared };
  }

  /** Null where it cannot be told. */
  private async tracesSince(before: TreeState): Promise<readonly string[] | null> {
    const after = await this.known();
    return after && differingPaths(before, after);
  }

  /** Null where something in the tree cannot be read. */
  private known(): Promise<TreeState | null> {
    return this.inner.state().catch(() => null);
  }

  /** Are these no part of what an episode changes, so that a tree without them is as good to its policy? */
  private async areHidden(paths: readonly string[]): Promise<boolean> {
    const outside = paths.filter((name) => !name.startsWith('.git/'));
    return (await this.inner.ignored(outside)).size === outside.length;
  }
}

/** What the run says, with the tree's path in place of that of the tree in which it was made. */
function inTree(mountPath: string, { report, mountPath: made }: MadeRun): TestReport {
  if (made === mountPath) return report;
  const moved = (text: string) => text.replaceAll(made, mountPath);
  return {
    ...report,
    output: moved(report.output),
    results: report.results.map((result) => ({ ...result, message: moved(result.message) })),
  };
}
