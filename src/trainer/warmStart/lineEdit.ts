/** An edit as the `edit` tool takes it, on the line where `old` begins. */
export interface LineEdit {
  /** Counted from 1, in the text before. */
  readonly line: number;
  readonly old: string;
  readonly new: string;
  /** The line as `open` shows it, without its number. */
  readonly shown: string;
}

/**
 * The shortest edit that turns `before` into `after`: the tokens that differ, with as many of those before them (or
 * behind them, at a line's start) as are needed for `old` to be a text that begins once on its line. Null where the texts
 * are equal, or what differs begins in an empty text.
 */
export function lineEdit(before: string, after: string): LineEdit | null {
  if (before === after) return null;
  const [a, b] = [tokensOf(before), tokensOf(after)];
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const lines = before.split('\n').map((line) => line.replace(/\r$/, ''));
  let [start, behind] = [head, tail];
  for (;;) {
    const old = a.slice(start, a.length - behind).join('');
    const at = a.slice(0, start).join('');
    const line = at.split('\n').length;
    const column = at.length - (at.lastIndexOf('\n') + 1);
    const shown = lines[line - 1]!;
    const isFound = old.trim() !== '' && !old.startsWith('\n') && beginsOnce(before, at.length - column, shown, old);
    if (isFound) return { line, old, new: b.slice(start, b.length - behind).join(''), shown };
    const beginsLine = column === 0 || shown.slice(0, column).trim() === '';
    const isBreak = old.trim() === '' || old.startsWith('\n');
    if (start > 0 && (!beginsLine || isBreak)) start -= 1;
    else if (behind > 0) behind -= 1;
    else return null;
  }
}

/** Does one occurrence of `old` begin on this line, and no other? */
function beginsOnce(text: string, lineStart: number, line: string, old: string): boolean {
  let count = 0;
  const end = lineStart + line.length;
  for (let at = text.indexOf(old, lineStart); at >= 0 && at <= end; at = text.indexOf(old, at + 1)) count += 1;
  return count === 1;
}

/**
 * Words and operators with a space before them, breaks with the indentation behind them, and what is left one by one: much
 * as byte-level tokenizers cut code, so that what is quoted mostly has the tokens that it has in the file.
 */
const tokensOf = (text: string) => text.match(/ ?\w+| ?[<>=!&|+\-*/%?:.]+|\n[ \t]*|[ \t]+|./gs) ?? [];
