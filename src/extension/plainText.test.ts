import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainLabel, plainLine, plainMessage } from './plainText.js';

/** As the editor finds them (vs/base/common/linkedText.ts, vs/base/browser/ui/iconLabel/iconLabels.ts). */
const links = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
const icons = /(\\)?\$\(([A-Za-z0-9-]+(?:~[A-Za-z]+)?)\)/g;

const pieces = ['[', ']', '(', ')', '$', '\\', '$(trash)', '$(sync~spin)', '](command:x)', ' ', '\n', '\u202e', 'a'];
const hostile = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((parts) => parts.join(''));

describe('text of unknown origin', () => {
  it('makes no link in a message or in a label', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(plainMessage(text)).not.toMatch(links);
        expect(plainLabel(text)).not.toMatch(links);
      }),
    );
    expect(plainMessage('[quit](command:workbench.action.quit)')).toBe('[quit] (command:workbench.action.quit)');
  });

  it('makes no icon in a label: the editor shows what stood there', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = plainLabel(text).replace(icons, (_, escaped, name) => (escaped ? `$(${name})` : '<icon>'));
        expect(shown).not.toContain('<icon>');
      }),
    );
    expect(plainLabel('$(trash) $(sync~spin) $(not one)')).toBe('\\$(trash) \\$(sync~spin) $(not one)');
  });

  it('is one line in which every character is seen, and no longer than what can be read', () => {
    expect(plainLine('a\u202eb\r\n\u001b[31mc\u200b')).toBe('a\\u{202e}b \\u{1b}[31mc\\u{200b}');
    for (const plain of [plainLine, plainMessage, plainLabel]) {
      expect(plain('x'.repeat(10_000_000)).length).toBeLessThan(1100);
    }
  });
});

describe('the editor', () => {
  /** What shows text with a syntax, and the one file that calls it. */
  const doors: Readonly<Record<string, string>> = {
    showInformationMessage: 'messages.ts',
    showWarningMessage: 'messages.ts',
    showErrorMessage: 'messages.ts',
    showQuickPick: 'quickPick.ts',
    createQuickPick: 'quickPick.ts',
    'window.withProgress': 'progress.ts',
  };

  it.each(Object.entries(doors))('is told text by %s in %s alone, where it is made plain', (call, door) => {
    const files = readdirSync('src/extension', { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    const callers = files.filter((file) => readFileSync(path.join('src/extension', file), 'utf8').includes(call));
    expect(callers.filter((file) => file !== door)).toEqual([]);
  });
});
