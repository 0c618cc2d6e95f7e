import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';
import type { TestReport } from './report.js';

/** What VS Code calls in the extension host; a rejection is a failing exit code. The report goes to a file. */
export function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 120_000, reporter: Mocha.reporters.Base });
  const folder = join(__dirname, 'suite');
  for (const file of readdirSync(folder).sort()) {
    if (file.endsWith('.test.cjs')) mocha.addFile(join(folder, file));
  }
  if (process.env.WHETSTONE_GREP) mocha.grep(process.env.WHETSTONE_GREP);

  const report: TestReport = { results: [] };
  return new Promise((resolve, reject) => {
    const runner = mocha.run((failures) => {
      if (process.env.WHETSTONE_TEST_REPORT) writeFileSync(process.env.WHETSTONE_TEST_REPORT, JSON.stringify(report));
      if (failures > 0) reject(new Error(`${failures} failed`));
      else resolve();
    });
    runner.on('pass', (test) => report.results.push({ name: test.fullTitle(), milliseconds: test.duration ?? 0 }));
    runner.on('fail', (test, error: Error) =>
      report.results.push({
        name: test.fullTitle(),
        milliseconds: test.duration ?? 0,
        failure: error.stack ?? error.message,
      }),
    );
  });
}
