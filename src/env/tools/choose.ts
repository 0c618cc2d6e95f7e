import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Suspect } from '../suspects/rankSuspects.js';
import { applySite } from '../tasks/injection/operator.js';
import { testHeadline } from './runTests.js';
import { takeBack } from './startTree.js';
import { describe, suggestionsOf, suspectAt } from './suggest.js';
import { learnTestLimit, testLimit } from './testLimit.js';
import { defineTool } from './tool.js';
import { resolveInTree, type Problem } from './treeFiles.js';

export const choose = defineTool({
  name: 'choose',
  description:
    "Make change `number` that `suggest` lists for a function, in the tree as it was at the start (other changes are undone), and run the task's tests.",
  arguments: z.strictObject({ function: z.int().min(1), number: z.int().min(1) }),
  async execute({ function: suspectNumber, number }, context) {
    const { workspace, task, limits, signal } = context;
    const found = await suspectAt(context, suspectNumber);
    if ('problem' in found) return found.problem;
    const changed = chosen(found.suspect, found.text, number);
    if ('problem' in changed) return changed.problem;
    await takeBack(workspace);
    const place = await resolveInTree(workspace, found.suspect.path);
    if ('problem' in place) return place.problem;
    await writeFile(place.absolute, changed.text);
    const report = await workspace.runTests({
      files: task.whetstone.test_files,
      timeoutMs: testLimit(task, limits),
      signal,
    });
    learnTestLimit(task, report);
    return renderChoice(testHeadline(report), changed.told);
  },
});

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
