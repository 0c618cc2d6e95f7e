import { z } from 'zod';
import type { TestReport } from '../testing/testRunner.js';
import { cutLine, normalizeOutput, plainText, type VolatileContext } from './normalize.js';
import { defineTool } from './tool.js';

const SHOWN_FAILURES = 3;
const SHOWN_MESSAGE_LINES = 6;
const SHOWN_OUTPUT_LINES = 10;
const LINE_CHARACTERS = 160;

export const runTests = defineTool({
  name: 'run_tests',
  description: "Run the task's tests, or only the given test files.",
  arguments: z.strictObject({ files: z.array(z.string()).optional() }),
  async execute({ files }, { workspace, task, limits, isTestFile, signal }) {
    const wanted = files?.length ? files.map(relative) : task.whetstone.test_files;
    const stranger = wanted.find((file) => !isTestFile(file));
    if (stranger !== undefined)
      return `"${stranger}" is not a test file. Test files: ${listed(task.whetstone.test_files)}.`;
    const report = await workspace.runTests({ files: wanted, timeoutMs: limits.testTimeoutMs, signal });
    return renderTestReport(report, { roots: [workspace.mountPath, workspace.root], now: Date.now() });
  },
});

/** Counts, then the first failures with their messages; where there are no results, the end of the output. */
export function renderTestReport(
  report: Pick<TestReport, 'outcome' | 'results' | 'output'>,
  context: VolatileContext = { roots: [], now: 0 },
): string {
  if (report.outcome !== 'completed') {
    const end = normalizeOutput(report.output, context)
      .split('\n')
      .filter((line) => line.trim() !== '');
    return [testHeadline(report), ...end.slice(-SHOWN_OUTPUT_LINES).map((line) => cutLine(line, LINE_CHARACTERS))].join(
      '\n',
    );
  }
  const failures = report.results
    .filter((result) => result.status === 'failed')
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const lines = [testHeadline(report)];
  for (const failure of failures.slice(0, SHOWN_FAILURES)) {
    lines.push(`FAIL ${cutLine(oneLine(failure.id), LINE_CHARACTERS)}`, ...messageLines(failure.message));
  }
  if (failures.length > SHOWN_FAILURES) lines.push(`(+${failures.length - SHOWN_FAILURES} more failed)`);
  return lines.join('\n');
}

/** How many tests passed and failed, or why that is not known. */
export function testHeadline({ outcome, results }: Pick<TestReport, 'outcome' | 'results'>): string {
  switch (outcome) {
    case 'timed-out':
      return 'The tests timed out.';
    case 'crashed':
      return 'The test run crashed before it gave results.';
    case 'no-tests':
      return 'No tests were found.';
    case 'completed': {
      const count = (status: string) => results.filter((result) => result.status === status).length;
      const skipped = count('skipped');
      return `${count('passed')} passed, ${count('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    }
  }
}

function messageLines(message: string): string[] {
  const lines = plainText(message)
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.slice(0, SHOWN_MESSAGE_LINES).map((line) => `  ${cutLine(line, LINE_CHARACTERS)}`);
}

const oneLine = (text: string) => text.replace(/\s*[\r\n]+\s*/g, ' ');
const relative = (file: string) => file.replace(/^(?:\.\/)+/, '');
const listed = (files: readonly string[]) =>
  files.slice(0, 5).join(', ') + (files.length > 5 ? `, (+${files.length - 5} more)` : '');
