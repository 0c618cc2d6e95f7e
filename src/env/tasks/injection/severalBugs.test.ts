import { describe, expect, it } from 'vitest';
import { bugCandidates, type BugCandidate } from './candidates.js';
import { OPERATORS } from './operators/index.js';
import { areAllNeeded, BugPool, combineBugs } from './severalBugs.js';

const fileOf = (path: string) => ({
  path,
  text: 'function f(x, y) {\n  return x < y;\n}\nfunction g(x, y) {\n  return x < y;\n}\n',
});

/** The `boundary` bugs of a file, the first function's before the second's. */
const bugsOf = (path: string): BugCandidate[] =>
  [...bugCandidates([fileOf(path)], OPERATORS, 1)]
    .filter(({ operator }) => operator === 'boundary')
    .sort((a, b) => a.line - b.line);

const proven = (bug: BugCandidate, ...breaks: string[]) => ({ bug, breaks, draft: `${bug.path}:${bug.line}` });

describe('combineBugs', () => {
  it('puts several bugs into one file', () => {
    expect(combineBugs(bugsOf('a.js'))).toEqual([
      {
        path: 'a.js',
        before: fileOf('a.js').text,
        after: 'function f(x, y) {\n  return x <= y;\n}\nfunction g(x, y) {\n  return x <= y;\n}\n',
      },
    ]);
  });

  it('puts bugs into several files, in the order of their paths', () => {
    const [first] = bugsOf('b.js');
    const [second] = bugsOf('a.js');
    expect(combineBugs([first, second])?.map(({ path }) => path)).toEqual(['a.js', 'b.js']);
  });

  it('refuses two bugs in one function', () => {
    const inFirst = [...bugCandidates([fileOf('a.js')], OPERATORS, 1)].filter(({ line }) => line === 2);
    expect(inFirst.length).toBeGreaterThan(1);
    expect(combineBugs(inFirst.slice(0, 2))).toBeNull();
  });
});

describe('BugPool', () => {
  it('gives bugs that fit together once, whatever the order they came in', () => {
    const [first, second] = bugsOf('a.js');
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const pool = new BugPool<string>(['a.js', 'b.js'], 1);
      for (const ordinal of order) pool.add(ordinal, ordinal === 1 ? proven(first, 'a') : proven(second, 'b'));
      expect(pool.take().map(({ draft }) => draft)).toEqual(['a.js:2', 'a.js:5']);
      expect(pool.take()).toEqual([]);
      expect(pool.rest()).toEqual([]);
    }
  });

  it('keeps bugs of other files, and those that fail the same tests, for themselves', () => {
    const pool = new BugPool<string>(['a.js', 'b.js'], 1);
    const [first, second] = bugsOf('a.js');
    pool.add(1, proven(first, 'a'));
    pool.add(2, proven(second, 'a'));
    pool.add(3, proven(bugsOf('b.js')[0], 'b'));
    expect(pool.take()).toEqual([]);
    expect(pool.rest().map(({ draft }) => draft)).toEqual(['a.js:2', 'a.js:5', 'b.js:2']);
  });

  it('puts files of a large repository together, in few groups', () => {
    const paths = Array.from({ length: 80 }, (_, index) => `src/${index}.js`);
    const pool = new BugPool<string>(paths, 1);
    paths.forEach((path, index) => pool.add(index, proven(bugsOf(path)[0], path)));
    const groups = Array.from({ length: 4 }, () => pool.take());
    expect(groups.map(({ length }) => length)).toEqual([2, 2, 2, 3]);
    for (const group of groups) expect(new Set(group.map(({ bug }) => bug.path)).size).toBe(group.length);
  });
});

describe('areAllNeeded', () => {
  const [one, other] = [{ breaks: ['a', 'b'] }, { breaks: ['b', 'c'] }];

  it('wants every test of every bug to fail with all bugs in', () => {
    expect(areAllNeeded([one, other], ['a', 'b', 'c', 'd'])).toBe(true);
    expect(areAllNeeded([one, other], ['b', 'c'])).toBe(false);
  });

  it('wants the bugs to fail different tests', () => {
    expect(areAllNeeded([one, { breaks: ['b', 'a'] }], ['a', 'b'])).toBe(false);
  });
});
