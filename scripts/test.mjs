// Runs every test that needs no GPU: unit, property and end-to-end tests, then the extension inside a real VS Code.
// Closes with one line, `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const artifacts = join(root, 'test-artifacts');
mkdirSync(artifacts, { recursive: true });

const node = (...args) => spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status;

if (node('esbuild.mjs') !== 0) process.exit(1);

const vitestReport = join(artifacts, 'vitest.json');
const vscodeReport = join(artifacts, 'vscode.json');
for (const report of [vitestReport, vscodeReport]) rmSync(report, { force: true });

const statuses = [
  node(
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${vitestReport}`,
  ),
  node('test/vscode/run.mjs'),
];

function counts(file, read) {
  try {
    return read(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // A part that left no report did not run to its end.
    return { passed: 0, failed: 1, skipped: 0 };
  }
}
const unit = counts(vitestReport, (report) => ({
  passed: report.numPassedTests,
  // A file that does not load has no tests that could fail.
  failed:
    report.numFailedTests +
    report.testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0)
      .length,
  skipped: report.numPendingTests + report.numTodoTests,
}));
const editor = counts(vscodeReport, ({ passed, failed, skipped }) => ({ passed, failed, skipped }));
const total = (key) => unit[key] + editor[key];

console.log(`\n${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`);
process.exit(statuses.every((status) => status === 0) && total('failed') === 0 && total('passed') > 0 ? 0 : 1);
