/** An edit as the `edit` tool takes it, and what it is about. */
export interface LineEdit {
  readonly old: string;
  readonly new: string;
  /** Number of the first line that differs, in the text before. */
  readonly line: number;
  /** The first line that is replaced (or the one before what is put in), as `open` shows it. */
  readonly shown: string;
  /** The shortest whole tokens that differ; empty where lines were only put in or taken out. */
  readonly from: string;
  readonly to: string;
}

/**
 * The edit that turns `before` into `after`: whole lines, as few as are needed for `old` to occur exactly once, without
 * the first line's indentation where that is possible. Null where the texts are equal or no such lines exist.
 */
export function lineEdit(before: string, after: string): LineEdit | null {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  if (head === a.length && head === b.length) return null;
  let [start, end] = [head, a.length - tail];
  let newEnd = b.length - tail;
  // Lines put in or taken out are shown with the line before them.
  if ((start === end || start === newEnd) && start > 0) start -= 1;
  const line = head + 1;
  const shown = `${start + 1}: ${a[start]!}`;
  const tokens = differingTokens(a.slice(head, end).join('\n'), b.slice(head, newEnd).join('\n'));
  for (let grow = 0; grow < 6; grow += 1) {
    const old = a.slice(start, end).join('\n');
    const replacement = b.slice(start, newEnd).join('\n');
    const indent = /^\s*/.exec(old)?.[0] ?? '';
    const cut = replacement.startsWith(indent) ? indent.length : 0;
    for (const skip of cut > 0 ? [cut, 0] : [0]) {
      const candidate = { old: old.slice(skip), new: replacement.slice(skip) };
      if (candidate.old.trim() !== '' && occurrences(before, candidate.old) === 1)
        return { ...candidate, line, shown, ...tokens };
    }
    if (start > 0) start -= 1;
    else if (end < a.length) {
      end += 1;
      newEnd += 1;
    } else return null;
  }
  return null;
}

export function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count += 1;
  return count;
}

const tokensOf = (text: string) => text.match(/\w+|[<>=!&|+\-*/%?:.]+|\s+|./gs) ?? [];

function differingTokens(before: string, after: string): { from: string; to: string } {
  const [a, b] = [tokensOf(before), tokensOf(after)];
  let head = 0;
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return {
    from: a
      .slice(head, a.length - tail)
      .join('')
      .trim(),
    to: b
      .slice(head, b.length - tail)
      .join('')
      .trim(),
  };
}
