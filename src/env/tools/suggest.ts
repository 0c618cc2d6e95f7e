import { z } from 'zod';
import { fileFacts } from '../suspects/fileFacts.js';
import type { Suspect } from '../suspects/rankSuspects.js';
import type { SmallChange } from '../tasks/injection/repairs.js';
import { cutLine } from './normalize.js';
import { splitLines } from './open.js';
import { startTree } from './startTree.js';
import { noSuspect, suspectsOf } from './suspects.js';
import { defineTool, type ToolContext } from './tool.js';
import type { Problem } from './treeFiles.js';

const LINE_CHARACTERS = 100;
const CHANGE_CHARACTERS = 60;

export const suggest = defineTool({
  name: 'suggest',
  description:
    'List small changes of a function that may mend a bug, with the numbers that `choose` takes. `function` is a number of `suspects`.',
  arguments: z.strictObject({ function: z.int().min(1) }),
  async execute({ function: number }, context) {
    const found = await suspectAt(context, number);
    return 'problem' in found ? found.problem : renderSuggestions(found.suspect, found.text);
  },
});

/** The suspect of that number, and its file's text as it was when the episode began. */
export async function suspectAt(
  context: Pick<ToolContext, 'task' | 'workspace' | 'signal'>,
  number: number,
): Promise<{ readonly suspect: Suspect; readonly text: string } | Problem> {
  const all = await suspectsOf(context);
  const suspect = all.at(number - 1);
  const text = suspect === undefined ? null : await startTree(context.workspace).read(suspect.path);
  return suspect === undefined || text === null ? { problem: noSuspect(number, all.length) } : { suspect, text };
}

/** The changes of a suspect, numbered from 1 by their place here. */
export function suggestionsOf(
  { path, changes }: Pick<Suspect, 'path' | 'changes'>,
  text: string,
): readonly SmallChange[] {
  const all = fileFacts(path, text).changes;
  return changes.map((index) => all[index]);
}

/** Each line that has changes, with its number, and below it what each does, with the change's number behind it. */
export function renderSuggestions(suspect: Pick<Suspect, 'path' | 'name' | 'changes'>, text: string): string {
  const changes = suggestionsOf(suspect, text);
  const lines = splitLines(text);
  return [
    `${suspect.path}, ${suspect.name} (${changes.length} ${changes.length === 1 ? 'change' : 'changes'})`,
    ...changes.flatMap(({ line, ...change }, index) => [
      ...(changes[index - 1]?.line === line ? [] : [`${line}: ${cutLine(lines[line - 1] ?? '', LINE_CHARACTERS)}`]),
      `  ${describe(change)} (${index + 1})`,
    ]),
  ].join('\n');
}

/** What a change does, on one line. */
export const describe = ({ site }: Pick<SmallChange, 'site'>) =>
  cutLine(site.description.replace(/\s+/g, ' '), CHANGE_CHARACTERS);
