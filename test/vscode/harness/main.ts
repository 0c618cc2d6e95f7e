import { runTests } from '@vscode/test-electron';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { branchesScenario } from '../ui/branchesScenario.js';
import { crashScenario } from '../ui/crashScenario.js';
import { languageModelScenario } from '../ui/languageModelScenario.js';
import { paletteScenario } from '../ui/paletteScenario.js';
import { playScenario } from '../ui/playScenario.js';
import { trainingScenario } from '../ui/scenario.js';
import { tasksScenario } from '../ui/tasksScenario.js';
import { viewsScenario } from '../ui/viewsScenario.js';
import { printReport, type TestReport } from './report.js';
import { stopTrainings } from '../fixtures/stopTrainings.js';
import { makeWorkspace } from '../fixtures/workspace.js';

export interface HarnessOptions {
  readonly root: string;
  /** Folder of the bundled tests. */
  readonly out: string;
  /** True where the installed code-server stands in for the desktop's VS Code. */
  readonly emulated: boolean;
  readonly node: string;
  readonly codeServer: string;
  readonly only?: string;
  /** The one scenario of the workbench that is played; all where not given. */
  readonly scenario?: string;
}

async function runSuite(options: HarnessOptions): Promise<TestReport> {
  const scratch = mkdtempSync(join(tmpdir(), 'whetstone-suite-'));
  const reportFile = join(scratch, 'report.json');
  const workspace = makeWorkspace(scratch);
  try {
    const outcome = await runTests({
      vscodeExecutablePath: options.emulated ? join(options.out, 'code.mjs') : undefined,
      extensionDevelopmentPath: [options.root, join(options.root, 'test', 'vscode', 'fixtures', 'language-model')],
      extensionTestsPath: join(options.out, 'mochaEntry.cjs'),
      launchArgs: [workspace],
      extensionTestsEnv: { WHETSTONE_TEST_REPORT: reportFile },
    }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    const report: TestReport = existsSync(reportFile)
      ? (JSON.parse(readFileSync(reportFile, 'utf8')) as TestReport)
      : { results: [] };
    // A run without a report, or one that ended badly although every test passed, is a failure too.
    if (report.results.length === 0 || (outcome && report.results.every((result) => !result.failure))) {
      report.results.push({ name: 'the extension host ends well', milliseconds: 0, failure: outcome ?? 'no test ran' });
    }
    return report;
  } finally {
    await stopTrainings(workspace);
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Runs the suites and prints their results. */
export async function main(options: HarnessOptions): Promise<{ passed: number; failed: number }> {
  const counts = [];
  if (options.only !== '--ui') counts.push(printReport('In the extension host', await runSuite(options)));
  if (options.only !== '--suite' && options.emulated) {
    const { root, node, codeServer } = options;
    const scenarios = {
      'In the workbench': trainingScenario,
      'After a crash': crashScenario,
      'In the views': viewsScenario,
      'With the tasks': tasksScenario,
      'With branches': branchesScenario,
      'From the palette': paletteScenario,
      'With language models': languageModelScenario,
    };
    for (const [name, scenario] of Object.entries(scenarios)) {
      if (options.scenario !== undefined && name !== options.scenario) continue;
      counts.push(printReport(name, await playScenario(scenario, { root, node, codeServer })));
    }
  }
  return {
    passed: counts.reduce((sum, count) => sum + count.passed, 0),
    failed: counts.reduce((sum, count) => sum + count.failed, 0),
  };
}
