/** For tests only: tables of code before and after a bug. */
import { describe, expect, it } from 'vitest';
import { leavesUnused } from '../goUses.js';
import { applySite } from '../operator.js';
import { countSyntaxErrors, parseSource, type Language } from '../parsing.js';
import { smallChanges } from '../repairs.js';
import { OPERATORS } from './index.js';

/** Operators of which the broken code does not show what was there. */
const TRACELESS = /-removal$|^return-value$/;
/** Rows of the others that hold a bug of that kind. */
const ONE_WAY = [
  "z = s.startsWith('HTTP');",
  'x = a - b; y = a - 1; z = 1 - a;',
  'x = not a',
  'x = [i for i in range(1, n - 1)]',
  'const x: boolean = !y;',
  'for (let i: number = 1; i <= n - 1; i++) {}',
  'if a { return Err(Error::Short) }',
];

/** A negation dropped or put in changes the brackets too. */
const withoutBrackets = (text: string) => text.replace(/[\s()]/g, '');

/** Every broken form of `before` that the operator makes, in the order of the file. */
export type Row = readonly [operator: string, language: Language, before: string, ...after: string[]];

export function describeTable(table: readonly Row[]): void {
  const cases = table.map(([name, language, before, ...after]) => ({ name, language, before, after }));
  describe('bug operators', () => {
    it.each(cases)('$name breaks $language: $before', ({ name, language, before, after }) => {
      const operator = OPERATORS.find((candidate) => candidate.name === name)!;
      const source = parseSource(before, language);
      expect(countSyntaxErrors(source.root)).toBe(0);
      const sites = operator.sites(source).filter((site) => language !== 'go' || !leavesUnused(source, site));
      const broken = sites.map((site) => applySite(before, site));
      expect(broken).toEqual(after);
      for (const text of broken) expect(countSyntaxErrors(parseSource(text, language).root)).toBe(0);
    });

    const undone = cases.filter(
      ({ name, before, after }) =>
        after.length > 0 && !TRACELESS.test(name) && !ONE_WAY.some((text) => before.includes(text)),
    );
    it.each(undone)('a small change undoes $name in $language: $before', ({ language, before, after }) => {
      for (const broken of after) {
        const mended = smallChanges(parseSource(broken, language)).map(({ site }) => applySite(broken, site));
        expect(mended.map(withoutBrackets)).toContain(withoutBrackets(before));
      }
    });

    const languages = new Set<Language>(table.map(([, language]) => language).filter((language) => language !== 'tsx'));
    const pairs = OPERATORS.flatMap(({ name, languages: own }) =>
      own.filter((language) => languages.has(language)).map((language) => [name, language] as const),
    );
    it.each(pairs)('%s is shown at work in %s', (name, language) => {
      expect(table.some((row) => row[0] === name && row[1] === language && row.length > 3)).toBe(true);
    });
  });
}
