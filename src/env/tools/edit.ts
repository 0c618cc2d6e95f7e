import { z } from 'zod';
import { writeFile } from 'node:fs/promises';
import { cutLine } from './normalize.js';
import { splitLines } from './open.js';
import { readTextFile, resolveInTree } from './treeFiles.js';
import { defineTool } from './tool.js';

const SHOWN_LINES = 6;
const LINE_CHARACTERS = 160;

export const NOTHING_CHANGED = 'Nothing changed: old and new are the same.';
export const TEST_FILE_NOTE = 'Note: this is a test file; changes to tests do not count.';

export const edit = defineTool({
  name: 'edit',
  description:
    'Replace `old`, which must occur exactly once in the file, or on the line where it begins if `line` is given, by `new`.',
  arguments: z.strictObject({
    path: z.string().min(1),
    line: z.int().min(1).optional(),
    old: z.string(),
    new: z.string(),
  }),
  async execute({ path, line, old, new: replacement }, { workspace, isTestFile }) {
    const place = await resolveInTree(workspace, path);
    if ('problem' in place) return place.problem;
    const file = await readTextFile(place);
    if ('problem' in file) return file.problem;
    const result = replaceOnce(file.text, old, replacement, line);
    if ('occurrences' in result) return renderNoEdit(place.path, result.occurrences, line);
    if (result.text === file.text) return NOTHING_CHANGED;
    await writeFile(place.absolute, result.text);
    return renderEdit(place.path, file.text, result.text, isTestFile(place.path));
  },
});

/**
 * Replaces the only occurrence of `old`, or the only one that begins on `line`, counted from 1 as `open` shows it. The
 * policy sees line feeds only, so in a file with CRLF its texts are taken to mean CRLF. An empty `old` occurs nowhere.
 */
export function replaceOnce(
  text: string,
  old: string,
  replacement: string,
  line?: number,
): { readonly text: string } | { readonly occurrences: number } {
  const fitsAsItIs = old.includes('\n') && text.includes(old);
  const meansCrlf = text.includes('\r\n') && !fitsAsItIs;
  const adapt = (part: string) => (meansCrlf ? part.replace(/\r?\n/g, '\r\n') : part);
  const wanted = adapt(old);
  const [first, end] = line === undefined ? [0, text.length] : spanOfLine(text, line);
  const places = wanted === '' ? [] : occurrences(text, wanted).filter((at) => at >= first && at < end);
  const [at] = places;
  if (at === undefined || places.length > 1) return { occurrences: places.length };
  return { text: text.slice(0, at) + adapt(replacement) + text.slice(at + wanted.length) };
}

export function renderNoEdit(path: string, occurrences: number, line?: number): string {
  const place = line === undefined ? path : `line ${line} of ${path}`;
  return occurrences === 0
    ? `Not edited: old occurs 0 times in ${place}.`
    : `Not edited: old occurs ${occurrences} times in ${place}; give more of the text around it.`;
}

/** `Edited path:`, then the lines that differ, old ones before new ones, with their numbers on their own side. */
export function renderEdit(path: string, before: string, after: string, isTest = false): string {
  const { removed, added } = changedLines(splitLines(before), splitLines(after));
  const removedShown = Math.min(removed.length, Math.max(SHOWN_LINES / 2, SHOWN_LINES - added.length));
  const addedShown = Math.min(added.length, SHOWN_LINES - removedShown);
  const more = removed.length - removedShown + added.length - addedShown;
  return [
    `Edited ${path}:`,
    ...removed.slice(0, removedShown).map((line) => `- ${line}`),
    ...added.slice(0, addedShown).map((line) => `+ ${line}`),
    ...(more > 0 ? [`(+${more} more lines)`] : []),
    ...(isTest ? [TEST_FILE_NOTE] : []),
  ].join('\n');
}

/** The one region between the common head and the common tail. */
function changedLines(before: readonly string[], after: readonly string[]) {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const numbered = (lines: readonly string[]) =>
    lines
      .slice(head, lines.length - tail)
      .map((line, index) => `${head + index + 1}: ${cutLine(line, LINE_CHARACTERS)}`);
  return { removed: numbered(before), added: numbered(after) };
}

/** Where `part` begins. Occurrences may overlap: each is a place where the text could be replaced. */
function occurrences(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) places.push(at);
  return places;
}

/** Where a line of `splitLines` begins and where the next one does; empty where there is no such line. */
function spanOfLine(text: string, line: number): [first: number, end: number] {
  const breaks = [...text.matchAll(/\r\n|\n|\r/g)].map(({ index, 0: { length } }) => index + length);
  const starts = [0, ...breaks];
  return [starts[line - 1] ?? text.length, starts[line] ?? text.length];
}
