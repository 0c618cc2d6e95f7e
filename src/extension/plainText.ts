import { visibleText } from './trajectory/visibleText.js';

// Words of a repository, a policy, a record or another extension, where the editor reads a syntax of its own.

/** Of a line that is shown whole; the log has what is longer. */
const longest = 1000;

const cut = (text: string) => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Text of bounded length in which every character is seen. */
export const shownText = (text: string): string => visibleText(cut(text));

/** The same in one line. */
export const plainLine = (text: string): string => visibleText(cut(text).replace(/\s+/g, ' '));

/** For messages and progress, in which the editor makes links of `[text](target)`, also of commands. */
export const plainMessage = (text: string): string => plainLine(text).replaceAll('](', '] (');

/** For pickers, lenses and the status bar, in which it makes icons of `$(name)`, and links in what hovers over them. */
export const plainLabel = (text: string): string => plainMessage(text).replace(/\$(?=\([\w-]+(~\w+)?\))/g, '\\$');
