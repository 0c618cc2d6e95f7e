import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { applySite } from '../tasks/injection/operator.js';
import { renderEdit } from './edit.js';
import { startText } from './startText.js';
import { suggestionsOf } from './suggest.js';
import { defineTool } from './tool.js';

export const choose = defineTool({
  name: 'choose',
  description:
    'Make change `number` that `suggest` lists for a function, in the file as it was at the start: other changes of it are undone.',
  arguments: z.strictObject({ path: z.string().min(1), name: z.string().min(1), number: z.int().min(1) }),
  async execute({ path, name, number }, { workspace, isTestFile }) {
    const file = await startText(workspace, path);
    if ('problem' in file) return file.problem;
    const changed = chosen(file.path, file.text, name, number);
    if ('problem' in changed) return changed.problem;
    await writeFile(file.absolute, changed.text);
    return renderEdit(file.path, file.text, changed.text, isTestFile(file.path));
  },
});

/** The text with the change of that number; or why there is none. */
export function chosen(
  path: string,
  text: string,
  name: string,
  number: number,
): { readonly text: string } | { readonly problem: string } {
  const changes = suggestionsOf(path, text, name);
  if ('problem' in changes) return changes;
  const change = changes.at(number - 1);
  return change === undefined
    ? { problem: `No change ${number} of ${name} in ${path}: there are ${changes.length}.` }
    : { text: applySite(text, change.site) };
}
