import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { fileOf, type Suspect } from '../suspects/rankSuspects.js';
import { TestLimits } from '../testLimits.js';
import { applySite } from '../tasks/injection/operator.js';
import { mergeReports } from '../testing/mergeReports.js';
import type { TestReport } from '../testing/testRunner.js';
import { testHeadline } from './runTests.js';
import { takeBack } from './startTree.js';
import { describe, suggestionsOf, suspectAt } from './suggest.js';
import { defineTool, type ToolContext } from './tool.js';
import { resolveInTree, type Problem } from './treeFiles.js';

/** A test that fails at once may wait for seconds where it passes. */
const triedLimits = new TestLimits(5_000);

export const choose = defineTool({
  name: 'choose',
  description:
    "Make change `number` that `suggest` lists for a function, in the tree as it was at the start (other changes are undone), and run the task's tests: the files of those that fail, and the others once they pass.",
  arguments: z.strictObject({ function: z.int().min(1), number: z.int().min(1) }),
  async execute({ function: suspectNumber, number }, context) {
    const { workspace } = context;
    const found = await suspectAt(context, suspectNumber);
    if ('problem' in found) return found.problem;
    const changed = chosen(found.suspect, found.text, number);
    if ('problem' in changed) return changed.problem;
    await takeBack(workspace);
    const place = await resolveInTree(workspace, found.suspect.path);
    if ('problem' in place) return place.problem;
    await writeFile(place.absolute, changed.text);
    const report = await testChange(context);
    return renderChoice(testHeadline(report), changed.told);
  },
});

/** Most changes mend nothing, which the files of the failing tests tell without the others. */
async function testChange({ workspace, task, limits, signal }: ToolContext): Promise<TestReport> {
  const failing = new Set(task.FAIL_TO_PASS.map(fileOf));
  const files = task.whetstone.test_files;
  const [first, others] = [files.filter((file) => failing.has(file)), files.filter((file) => !failing.has(file))];
  if (first.length === 0) return workspace.runTests({ files, timeoutMs: limits.testTimeoutMs, signal });
  const report = await workspace.runTests({
    files: first,
    timeoutMs: triedLimits.of(task, first, limits.testTimeoutMs),
    signal,
  });
  // Where nothing passed, the files may not even have been loaded.
  if (report.results.some(({ status }) => status === 'passed')) triedLimits.learn(task, first, report);
  const passes = report.outcome === 'completed' && report.results.every(({ status }) => status !== 'failed');
  if (!passes || others.length === 0) return report;
  return mergeReports([report, await workspace.runTests({ files: others, timeoutMs: limits.testTimeoutMs, signal })]);
}

/** What the tests say, then what was changed. */
export const renderChoice = (headline: string, told: string) => `${headline}\n${told}`;

/** The text with the change of that number, and what it does; or why there is none. */
export function chosen(
  suspect: Pick<Suspect, 'path' | 'changes'>,
  text: string,
  number: number,
): { readonly text: string; readonly told: string } | Problem {
  const changes = suggestionsOf(suspect, text);
  const change = changes.at(number - 1);
  if (change === undefined) return { problem: `No change ${number}: there are ${changes.length}.` };
  return { text: applySite(text, change.site), told: `${suspect.path}:${change.line}: ${describe(change)}` };
}
