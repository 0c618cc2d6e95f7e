/** A test's title as the file writes it: the pieces between what is filled in. */
export type Title = readonly string[];

/** No person writes a longer title, and none is looked for. */
const longestTitle = 500;

/** The title that a string's text says; what is filled in (`${…}`, `$name`, `%s`) may be anything. Blanks count as one, as in ids. */
export function writtenTitle(text: string): Title {
  const pieces = text
    .slice(0, longestTitle)
    .replace(/\\(['"`\\])/g, '$1')
    .replace(/(?:\s|\\[nrt])+/g, ' ')
    .trim()
    .split(/\$\{[^}]*\}|%[sdifjoOp#]|\$\w+/);
  return text.length > longestTitle ? [...pieces, ''] : pieces;
}

/** Does a title fit? In linear time, whatever the repository's titles hold. */
export function fits([first, ...rest]: Title, title: string): boolean {
  const last = rest.pop();
  if (last === undefined) return title === first;
  if (!title.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = title.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return title.length - last.length >= at && title.endsWith(last);
}

/** A title without what runners put behind it: the count of equal ones, parameters in brackets or parentheses. */
export function bareTitle(title: string): string {
  let bare = title.replace(/ #\d+$/, '');
  for (const [open, close] of ['[]', '()']) {
    const from = bare.indexOf(open);
    if (from > 0 && bare.endsWith(close)) bare = bare.slice(0, from);
  }
  return bare.trimEnd();
}
