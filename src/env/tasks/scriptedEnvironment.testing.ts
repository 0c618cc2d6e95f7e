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

type Reports = readonly TestReport[] | ((files: readonly string[]) => TestReport);

/** Opens workspaces that give the reports one after the other (or by the files that are run), and counts those that are open. */
export class ScriptedWorkspaces {
  opened = 0;
  open = 0;

  constructor(private readonly reports: Reports) {}

  readonly next = (): Promise<Workspace> => {
    const { reports, opened } = this;
    this.opened += 1;
    this.open += 1;
    return Promise.resolve({
      root: '/nowhere',
      mountPath: '/nowhere',
      sandbox: 'scripted',
      run: () => Promise.reject(new Error('internal: not scripted')),
      runTests: ({ files = [] } = {}) =>
        Promise.resolve(typeof reports === 'function' ? reports(files) : reports[opened]),
      changes: () => Promise.resolve([]),
      ignored: () => Promise.resolve(new Set()),
      dispose: () => {
        this.open -= 1;
        return Promise.resolve();
      },
    });
  };

  environment(testFiles: readonly string[] = ['test/a.test.js']): RepositoryEnvironment {
    const parts: Partial<RepositoryEnvironment> = {
      repoRoot: '/repository',
      baseTree: 'tree',
      suites: new TestSuites([{ runner: { name: 'node:test' } as TestRunner, root: '.', testFiles }], []),
      openWorkspaceFromTree: this.next,
    };
    return parts as RepositoryEnvironment;
  }
}
