import type { LineEdit } from './lineEdit.js';

/** Thinking as the codec parses it, ahead of the calls. */
export const thinking = (text: string) => `<think>\n${text}\n</think>\n`;
export const toolCall = (name: string, args: Readonly<Record<string, unknown>>) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${spacedJson(args)}}\n</tool_call>`;

/** JSON with a space after `:` and `,` outside strings, as Python and Jinja write it. */
function spacedJson(args: Readonly<Record<string, unknown>>): string {
  const value = (item: unknown): string =>
    Array.isArray(item) ? `[${item.map(value).join(', ')}]` : JSON.stringify(item);
  return `{${Object.entries(args)
    .map(([key, item]) => `${JSON.stringify(key)}: ${value(item)}`)
    .join(', ')}}`;
}

/** Lines that are read one by one; of a fault further on only its own line is. */
const linesRead = 14;
const quotedCharacters = 120;

/**
 * Where the fault is: the function, and its lines up to the one at fault, quoted as they were shown. A small model cannot
 * tell which of many lines is wrong before it has read them, but with a line before it, it can: so it reads one after the
 * other and stops at the fault. Lines of brackets and comments alone are passed over. `source` is what the edit starts from.
 */
export function thoughtOf(suspect: string | null, source: string, { line, shown }: LineEdit): string {
  const lines = source.split('\n');
  const first = suspect === null ? 0 : definitionLine(source, suspect, line);
  const numbers = Array.from({ length: first === 0 ? 0 : Math.max(0, line - first) }, (_, i) => first + i);
  const read = numbers.filter((number) => isCode.test(lines[number - 1]!));
  const quoted = (number: number, text: string) => `${number}: ${text.replace(/\r$/, '').slice(0, quotedCharacters)}`;
  return [
    ...(suspect === null ? [] : [suspect]),
    ...(read.length < linesRead ? read.map((number) => quoted(number, lines[number - 1]!)) : []),
    quoted(line, shown),
  ].join('\n');
}

/** Something that is a word, and not in a comment that begins the line. */
const isCode = /^(?!\s*(?:\/\/|\/?\*|#)).*\w/;

/** The turn that makes an edit: the thought that leads to it, and the call. */
export const editTurn = (suspect: string | null, source: string, path: string, edit: LineEdit) =>
  thinking(thoughtOf(suspect, source, edit)) + editCall(path, edit);

export const editCall = (path: string, { line, old, new: replacement }: LineEdit) =>
  toolCall('edit', { path, line, old, new: replacement });

/** Number of the line that defines `name`, the last one up to `upTo` where there are several; 0 where none does. */
export function definitionLine(source: string, name: string, upTo = 0): number {
  const escaped = name.replaceAll('$', '\\$');
  const pattern = new RegExp(`(function |class |const |def |^\\s+(get )?)${escaped}( =|[ (:{])`);
  const found = source.split('\n').flatMap((line, index) => (pattern.test(line) ? [index + 1] : []));
  return found.findLast((line) => line <= upTo) ?? found[0] ?? 0;
}
