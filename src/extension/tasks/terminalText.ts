import { stripVTControlCharacters } from 'node:util';
import { visibleText } from '../trajectory/visibleText.js';

/** What tests wrote, for a terminal of the editor: it can move no cursor, hide nothing and open no link. */
export function terminalText(text: string): string {
  return visibleText(stripVTControlCharacters(text).replaceAll('\r\n', '\n')).replaceAll('\n', '\r\n');
}
