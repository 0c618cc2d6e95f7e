/** For tests only: tables of code before and after a bug. */
import { describe, expect, it } from 'vitest';
import { leavesUnused } from '../goUses.js';
import { applySite } from '../operator.js';
import { countSyntaxErrors, parseSource, type Language } from '../parsing.js';
import { OPERATORS } from './index.js';

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

    const languages = new Set<Language>(table.map(([, language]) => language).filter((language) => language !== 'tsx'));
    const pairs = OPERATORS.flatMap(({ name, languages: own }) =>
      own.filter((language) => languages.has(language)).map((language) => [name, language] as const),
    );
    it.each(pairs)('%s is shown at work in %s', (name, language) => {
      expect(table.some((row) => row[0] === name && row[1] === language && row.length > 3)).toBe(true);
    });
  });
}
