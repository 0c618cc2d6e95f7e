import { shownText } from '../plainText.js';

const longest = 200;

/**
 * Text of unknown length where a page has it in a line or a cell: its beginning, and where that is not all of it, `title` with more,
 * of bounded length too, for whoever hovers over it.
 */
export const shortText = (text: string): { readonly text: string; readonly title?: string } =>
  text.length > longest ? { text: `${text.slice(0, longest)}…`, title: shownText(text) } : { text };
