import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceOnce } from '../../env/tools/edit.js';
import { lineEdit } from './lineEdit.js';

describe('the shortest edit', () => {
  it.each([
    ['  if (a <= 1) throw x;', '  if (a < 1) throw x;', { old: ' <=', new: ' <' }],
    ['return sum;', 'return sum + 1;', { old: ' sum', new: ' sum + 1' }],
    ['a(b, b);', 'a(b, b, c);', { old: ' b', new: ' b, c' }],
    ['f(a, a)', 'f(b, a)', { old: '(a', new: '(b' }],
    ['a.b = a.b', 'a.b = a.c', { old: ' a.b', new: ' a.c' }],
    ['if (!(a < b)) {', 'if (a < b) {', { old: '!(a < b)', new: 'a < b' }],
    ['a = 1;\n  return b;\n}', 'return b;\n}', { old: 'a = 1;\n  ', new: '' }],
  ])('turns %j into %j', (before, after, edit) => {
    expect(lineEdit(`x\n${before}\n`, `x\n${after}\n`)).toMatchObject({ line: 2, ...edit });
  });

  it('is one that the tool makes, whatever the texts', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\n', '\n  ', '+', '(', ')'), { maxLength: 12 });
    let found = 0;
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [a, b] = [before.join(''), after.join('')];
        const edit = lineEdit(a, b);
        if (edit === null) return;
        found += 1;
        expect(replaceOnce(a, edit.old, edit.new, edit.line)).toEqual({ text: b });
        expect(a.split('\n')[edit.line - 1]).toBe(edit.shown);
      }),
      { numRuns: 1000 },
    );
    expect(found).toBeGreaterThan(500);
  });

  it('shows no carriage return', () => {
    expect(lineEdit('a\r\nb - c\r\n', 'a\r\nb + c\r\n')).toEqual({ line: 2, old: ' -', new: ' +', shown: 'b - c' });
  });
});
