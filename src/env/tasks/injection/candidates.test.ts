import { describe, expect, it } from 'vitest';
import { bugCandidates } from './candidates.js';
import { OPERATORS } from './operators/index.js';

const FILES = ['a.js', 'b.js', 'c.js'].map((path) => ({
  path,
  text: `export function ${path[0]}(x, y) {\n  if (x < y && y > 1) return x + y;\n  return x - y;\n}\n`,
}));
const take = (seed: number, files = FILES) => [...bugCandidates(files, OPERATORS, seed)];

describe('bugCandidates', () => {
  it('comes in the same order for the same seed, whatever the order of the files', () => {
    expect(take(7, [...FILES].reverse())).toEqual(take(7));
    expect(take(8)).not.toEqual(take(7));
  });

  it('has no bug twice', () => {
    const all = take(1).map(({ path, after }) => path + after);
    expect(new Set(all).size).toBe(all.length);
  });

  it('varies files and operators from the first', () => {
    const first = take(3).slice(0, 8);
    expect(new Set(first.map(({ operator }) => operator)).size).toBe(8);
    expect(new Set(first.map(({ path }) => path)).size).toBeGreaterThan(1);
  });

  it('knows line and function of the site', () => {
    const boundary = take(1).find(({ operator, path }) => operator === 'boundary' && path === 'a.js');
    expect(boundary).toMatchObject({ line: 2, scopeLine: 1, before: FILES[0].text });
  });

  it('passes over what would not parse', () => {
    const breaker = { ...OPERATORS[0], sites: () => [{ start: 0, end: 0, replacement: '((', description: '' }] };
    expect([...bugCandidates(FILES, [breaker], 1)]).toEqual([]);
  });

  it('is empty for files of other languages', () => {
    expect(take(1, [{ path: 'a.rb', text: 'x < y' }])).toEqual([]);
  });
});
