/** For tests only: an environment whose runs of the tests are written down beforehand. */
import type { RepositoryEnvironment } from '../environment.js';
import type { TestReport, TestResult, TestRunner } from '../testing/testRunner.js';
import { TestSuites } from '../testing/testSuites.js';
import type { Workspace } from '../workspace/workspace.js';

/** A report whose results are written as `name: status`; the names are the ids. */
export function reportOf(
  results: Record<string, TestResult['status']>,
  outcome: TestReport['outcome'] = 'completed',
  reason = '',
): TestReport {
  return {
    outcome,
    output: 'first line\nlast line\n',
    durationMs: 10,
    results: Object.entries(results).map(([name, status]) => ({
      id: name,
      file: 'a.test.js',
      name,
      status,
      message: status === 'failed' ? reason || `${name} is wrong\nat a.js:1` : '',
    })),
  };
}

/** Opens workspaces that give the reports one after the other, and counts those that are open. */
export class ScriptedWorkspaces {
  opened = 0;
  open = 0;

  constructor(private readonly reports: readonly TestReport[]) {}

  readonly next = (): Promise<Workspace> => {
    const report = this.reports[this.opened];
    this.opened += 1;
    this.open += 1;
    return Promise.resolve({
      root: '/nowhere',
      mountPath: '/nowhere',
      sandbox: 'scripted',
      run: () => Promise.reject(new Error('internal: not scripted')),
      runTests: () => Promise.resolve(report),
      changes: () => Promise.resolve([]),
      dispose: () => {
        this.open -= 1;
        return Promise.resolve();
      },
    });
  };

  environment(): RepositoryEnvironment {
    const parts: Partial<RepositoryEnvironment> = {
      repoRoot: '/repository',
      baseTree: 'tree',
      suites: new TestSuites(
        [{ runner: { name: 'node:test' } as TestRunner, root: '.', testFiles: ['test/a.test.js'] }],
        [],
      ),
      openWorkspaceFromTree: this.next,
    };
    return parts as RepositoryEnvironment;
  }
}
