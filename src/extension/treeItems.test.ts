import type * as vscode from 'vscode';
import { expect, it } from 'vitest';
import { finishedItem } from './treeItems.js';

it('a row shows every character of what a record says, up to a length that can be read, and so does a screen reader', () => {
  const item: vscode.TreeItem = {
    label: '1  open\u202e\u001b[2J',
    description: 'x'.repeat(1_000_000),
    tooltip: 'a\u200b\nb',
  };
  finishedItem(item, 'id');
  expect(item).toMatchObject({ id: 'id', label: '1  open\\u{202e}\\u{1b}[2J', tooltip: 'a\\u{200b}\nb' });
  expect(item.description).toMatch(/^x{1000}…$/);
  expect(item.accessibilityInformation?.label).toBe(`1  open\\u{202e}\\u{1b}[2J, ${'x'.repeat(1000)}…`);
});
