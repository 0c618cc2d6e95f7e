import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byScore, searchNames, searchPolicies, type Candidate, type Expansion } from './searchPolicies.js';

const candidate = (id: string, turns: number, score: number, origin: Candidate['origin'] = null): Candidate => ({
  id,
  turns,
  score,
  origin,
});

describe('a search', () => {
  it('best-of plays once, and the best is the first of the highest score', () => {
    const size = { width: 3, depth: 5 };
    expect(searchPolicies['best-of']([], 0, size)).toEqual([{ from: null, turn: 0, count: 3 }]);
    const played = [candidate('a', 2, -Infinity), candidate('b', 2, 0.5), candidate('c', 2, 0.5)];
    expect(searchPolicies['best-of'](played, 1, size)).toEqual([]);
    expect(byScore(played).map(({ id }) => id)).toEqual(['b', 'c', 'a']);
  });

  it('beam keeps the better half up to the turn of the round, of those that go on behind it', () => {
    const played = [candidate('a', 4, 0.1), candidate('b', 1, 0.9), candidate('c', 4, 0.6), candidate('d', 4, 0.4)];
    expect(searchPolicies.beam(played, 1, { width: 3, depth: 3 })).toEqual([
      { from: 'c', turn: 1, count: 2 },
      { from: 'd', turn: 1, count: 1 },
    ]);
    expect(searchPolicies.beam(played, 3, { width: 3, depth: 3 })).toEqual([]);
  });

  it('tree goes down to where the mean and what was tried seldom promise most, by hand', () => {
    const size = { width: 2, depth: 9 };
    const first = [candidate('a', 3, 0), candidate('b', 3, 1)];
    // Both were visited once of two: the bound of b is higher by its mean. Its turn has but one way on.
    expect(searchPolicies.tree(first, 1, size)).toEqual([{ from: 'b', turn: 1, count: 2 }]);
    const branches = ['x', 'y'].map((id) => candidate(id, 3, 0, { trajectoryId: 'b', turn: 1 }));
    // N = 4. a: n = 1, 0 + sqrt(2 ln 4) = 1.665; b: n = 3, 1/3 + sqrt(2 ln 4 / 3) = 1.295.
    expect(searchPolicies.tree([...first, ...branches], 2, size)).toEqual([{ from: 'a', turn: 1, count: 2 }]);
    // With x and y as good as b: 1 + 0.961 is more than a's 1.665, and b has the three ways that sqrt(3) asks for; of equal ones the first.
    const good = branches.map((one) => ({ ...one, score: 1 }));
    expect(searchPolicies.tree([...first, ...good], 2, size)).toEqual([{ from: 'b', turn: 2, count: 2 }]);
  });

  it('of any kind only goes on from turns that are there, plays what it was allowed, and ends', () => {
    const draws = fc.array(fc.record({ turns: fc.nat(5), score: fc.oneof(fc.double(), fc.constant(-Infinity)) }), {
      minLength: 60,
      maxLength: 60,
    });
    fc.assert(
      fc.property(fc.constantFrom(...searchNames), fc.nat(4), fc.nat(5), draws, (name, w, d, drawn) => {
        const size = { width: w + 1, depth: d + 1 };
        const played: Candidate[] = [];
        let round = 0;
        for (let next = searchPolicies[name](played, round, size); next.length > 0;) {
          expect(next.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(size.width);
          for (const { from, turn, count } of next) played.push(...play(played, { from, turn, count }, drawn));
          next = searchPolicies[name](played, ++round, size);
        }
        expect(round).toBeLessThanOrEqual(size.depth);
      }),
    );
  });
});

/** Branches have at least the turns that they share, and one of their own. */
function play(
  played: readonly Candidate[],
  { from, turn, count }: Expansion,
  drawn: readonly { turns: number; score: number }[],
): Candidate[] {
  const parent = played.find(({ id }) => id === from);
  expect(parent === undefined).toBe(from === null);
  if (parent) expect(turn).toBeLessThan(parent.turns);
  return Array.from({ length: count }, (_, index) => {
    const { turns, score } = drawn[(played.length + index) % drawn.length]!;
    const origin = parent ? { trajectoryId: parent.id, turn } : null;
    return candidate(String(played.length + index), turn + 1 + turns, Number.isNaN(score) ? 0 : score, origin);
  });
}
