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

/** Lines that are gone through one by one; a fault further on is named at once. */
const scannedLines = 16;

/**
 * What is wrong: the function, the numbers of its lines up to the one at fault, that line as it was shown, and the change.
 * A small model cannot tell at once which of many lines is wrong, but it can judge them one at a time; and it finds a
 * line by its number, and quotes from its own thought. `source` is what the edit starts from.
 */
export function thoughtOf(suspect: string | null, source: string, edit: LineEdit): string {
  const shown = edit.shown.length <= 100 ? edit.shown : null;
  const first = suspect === null ? 0 : definitionLine(source, suspect);
  const last = Number.parseInt(edit.shown);
  const scanned = first === 0 || shown === null ? 0 : Math.max(0, last - first);
  const numbers = Array.from({ length: scanned <= scannedLines ? scanned : 0 }, (_, i) => String(first + i));
  return [suspect, ...numbers, shown, changeOf(edit)].filter((part) => part !== null).join('\n');
}

/** Number of the line that defines `name`; 0 where none does. */
export function definitionLine(source: string, name: string): number {
  const escaped = name.replaceAll('$', '\\$');
  const pattern = new RegExp(`(function |class |const |def |^\\s+(get )?)${escaped}( =|[ (:{])`);
  return source.split('\n').findIndex((line) => pattern.test(line)) + 1;
}

function changeOf(edit: LineEdit): string {
  const negation = negationOf(edit);
  if (negation !== null) return negation;
  const { from, to } = edit;
  if (from === '' || to === '' || /\n/.test(from + to) || from.length + to.length > 60) {
    const [removed, added] = [edit.old.split('\n').length, edit.new.split('\n').length];
    if (added > removed) return 'something is missing.';
    if (added < removed) return 'this should go.';
    return to === '' ? `${from} is too much.` : `${to} is missing.`.slice(0, 80);
  }
  return `${from} should be ${to}.`;
}

/** Said of a condition that is negated as a whole, or no longer is. */
function negationOf({ old, new: replacement }: LineEdit): string | null {
  for (const opening of ['!(', 'not (']) {
    if (dropsNegation(old, replacement, opening)) return `${opening}...) is too much.`;
    if (dropsNegation(replacement, old, opening)) return `${opening}...) is missing.`;
  }
  return null;
}

/** Is `shorter` what `longer` becomes without one `opening` and one `)`? */
function dropsNegation(longer: string, shorter: string, opening: string): boolean {
  if (longer.length !== shorter.length + opening.length + 1) return false;
  for (let at = longer.indexOf(opening); at >= 0; at = longer.indexOf(opening, at + 1)) {
    const rest = longer.slice(0, at) + longer.slice(at + opening.length);
    for (let close = rest.indexOf(')', at); close >= 0; close = rest.indexOf(')', close + 1)) {
      if (rest.slice(0, close) + rest.slice(close + 1) === shorter) return true;
    }
  }
  return false;
}
