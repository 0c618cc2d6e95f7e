import type * as vscode from 'vscode';
import { shownText } from './plainText.js';
import { visibleText } from './trajectory/visibleText.js';

/**
 * Gives an item its id and what a screen reader says. Its texts may come from the repository or from a policy: characters
 * that would not be seen, or that would turn the writing direction of the row, are shown as what they are.
 */
export function finishedItem(item: vscode.TreeItem, id: string): vscode.TreeItem {
  item.id = id;
  if (typeof item.label === 'string') item.label = shownText(item.label);
  if (typeof item.description === 'string') item.description = shownText(item.description);
  if (typeof item.tooltip === 'string') item.tooltip = visibleText(item.tooltip);
  const parts = [item.label, item.description].filter((part) => typeof part === 'string' && part !== '');
  item.accessibilityInformation = { label: parts.join(', ') };
  return item;
}
