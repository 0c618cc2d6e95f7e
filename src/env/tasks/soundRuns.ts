import type { RepositoryEnvironment } from '../environment.js';
import type { TestReport } from '../testing/testRunner.js';
import type { Baseline } from './baseline.js';
import { runOnce } from './trial.js';

/**
 * How choices of test files behave in the base tree, run by themselves as a task's grading will run them. All tasks that
 * share a choice share its runs; for the whole suite the baseline has made them.
 */
export class SoundRuns {
  private readonly known = new Map<string, Promise<TestReport>>();

  constructor(
    private readonly environment: RepositoryEnvironment,
    private readonly baseline: Baseline,
    private readonly settings: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ) {}

  /** The report of the n-th run, counted from 0, each in a fresh tree. */
  get(files: readonly string[], run: number): Promise<TestReport> {
    const { reports, testFiles } = this.baseline;
    const isWhole = files.length === testFiles.length && testFiles.every((file) => files.includes(file));
    if (isWhole && run < reports.length) return Promise.resolve(reports[run]);
    const key = JSON.stringify([run, files]);
    const report = this.known.get(key) ?? this.run(files);
    this.known.set(key, report);
    return report;
  }

  private run(files: readonly string[]): Promise<TestReport> {
    const open = () => this.environment.openWorkspaceFromTree(this.environment.baseTree, '');
    return runOnce(open, { files, ...this.settings });
  }
}
