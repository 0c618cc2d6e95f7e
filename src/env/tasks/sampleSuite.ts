import { cancelled } from '../../trajectory/errors.js';
import type { RepositoryEnvironment } from '../environment.js';
import { mergeReports } from '../testing/mergeReports.js';
import type { DetectedRunner, TestReport } from '../testing/testRunner.js';
import { seededOrder } from './seededOrder.js';
import { runOnce } from './trial.js';

/** What of a suite that is too long as a whole could be run in time. */
export interface SuiteSample {
  readonly part: DetectedRunner;
  readonly report: TestReport;
}

/**
 * Runs a suite's test files in small groups, that grow as long as they end in time, until `budgetMs` is over. A group that
 * does not end is tried again in halves after the others, so that one file that hangs costs no other. Null where no group
 * ended.
 */
export async function sampleSuite(
  environment: RepositoryEnvironment,
  part: DetectedRunner,
  { budgetMs, signal }: { readonly budgetMs: number; readonly signal?: AbortSignal },
): Promise<SuiteSample | null> {
  const waiting = seededOrder(part.testFiles, 1, (file) => file);
  const halves: string[][] = [];
  const reports: TestReport[] = [];
  const done: string[] = [];
  let size = 1;
  for (let left = budgetMs; left > 0;) {
    if (signal?.aborted) throw cancelled();
    const files = waiting.length > 0 ? waiting.splice(0, size) : halves.shift();
    if (files === undefined) break;
    const open = () => environment.openWorkspaceFromTree(environment.baseTree, '');
    const report = await runOnce(open, { files, timeoutMs: Math.max(1, Math.min(left, budgetMs / 4)), signal });
    left -= report.durationMs;
    size = report.outcome === 'timed-out' ? 1 : 2 * size;
    if (report.outcome === 'completed') {
      reports.push(report);
      done.push(...files);
    } else if (files.length > 1) {
      const middle = Math.ceil(files.length / 2);
      halves.push(files.slice(0, middle), files.slice(middle));
    }
  }
  if (reports.length === 0) return null;
  const inOrder = new Set(done);
  return {
    part: { ...part, testFiles: part.testFiles.filter((file) => inOrder.has(file)) },
    report: mergeReports(reports),
  };
}
