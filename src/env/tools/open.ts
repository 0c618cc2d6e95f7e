import { z } from 'zod';
import { readdir } from 'node:fs/promises';
import { cutLine } from './normalize.js';
import { readTextFile, resolveInTree } from './treeFiles.js';
import { defineTool } from './tool.js';

/** Lines of a file that are shown at once. */
export const WINDOW_LINES = 40;
const LINE_CHARACTERS = 400;
const SHOWN_ENTRIES = 40;

export const open = defineTool({
  name: 'open',
  description: 'Show a file with line numbers (40 lines, around `line` where given), or list a folder.',
  arguments: z.strictObject({ path: z.string().min(1), line: z.int().optional() }),
  async execute({ path, line }, { workspace }) {
    const place = await resolveInTree(workspace, path);
    if ('problem' in place) return place.problem;
    if (place.kind === 'folder') {
      const entries = await readdir(place.absolute, { withFileTypes: true });
      return renderFolder(
        place.path,
        entries.map((entry) => entry.name + (entry.isDirectory() ? '/' : '')),
      );
    }
    const file = await readTextFile(place);
    return 'problem' in file ? file.problem : renderOpen(place.path, file.text, line);
  },
});

/** Lines of a text; a line feed at the end opens no further line. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** `path (12 lines)`, then a window of numbered lines with markers for what lies above and below. */
export function renderOpen(path: string, text: string, line?: number): string {
  const lines = splitLines(text.replace(/^\uFEFF/, ''));
  const lastStart = Math.max(0, lines.length - WINDOW_LINES);
  const start = Math.min(lastStart, Math.max(0, (line ?? 1) - 1 - WINDOW_LINES / 2));
  const shown = lines.slice(start, start + WINDOW_LINES);
  const below = lines.length - start - shown.length;
  return [
    `${path} (${count(lines.length, 'line')})`,
    ...(start > 0 ? [`... ${count(start, 'line')} above`] : []),
    ...shown.map((content, index) => `${start + index + 1}: ${cutLine(content, LINE_CHARACTERS)}`),
    ...(below > 0 ? [`... ${below} more ${below === 1 ? 'line' : 'lines'}`] : []),
  ].join('\n');
}

/** `src/ (3 entries)`, then the names, sorted; folders end with `/`. */
export function renderFolder(path: string, names: readonly string[]): string {
  const sorted = names.filter((name) => name !== '.git' && name !== '.git/').sort();
  const more = sorted.length - SHOWN_ENTRIES;
  return [
    `${path}/ (${count(sorted.length, 'entry', 'entries')})`,
    ...sorted.slice(0, SHOWN_ENTRIES),
    ...(more > 0 ? [`(+${more} more)`] : []),
  ].join('\n');
}

const count = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
