import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './advantages.js';
import { rlooAdvantages } from './rloo.js';
import { overParts, treeAdvantages, type TreeMember } from './treeAdvantages.js';

const grpo = (values: readonly (number | null)[]) => groupAdvantages(values).advantages;
const rloo = (values: readonly (number | null)[]) => rlooAdvantages(values).advantages;
const root = (reward: number | null): TreeMember => ({ reward, parent: null, shared: 0 });
const leaving = (parent: number, shared: number, reward: number | null): TreeMember => ({ reward, parent, shared });

/** A group of two or more roots, and branches that leave earlier members behind their first nodes. */
const anyGroup = fc
  .record({
    roots: fc.array(fc.option(fc.integer({ min: -4, max: 4 }), { freq: 6 }), { minLength: 2, maxLength: 4 }),
    branches: fc.array(
      fc.record({
        parent: fc.nat(),
        shared: fc.integer({ min: 1, max: 6 }),
        reward: fc.option(fc.integer({ min: -4, max: 4 }), { freq: 6 }),
      }),
      { maxLength: 8 },
    ),
  })
  .map(({ roots, branches }) =>
    branches.reduce(
      (members, { parent, shared, reward }) => [
        ...members,
        leaving(parent % members.length, shared, reward === null ? null : reward / 4),
      ],
      roots.map((reward) => root(reward === null ? null : reward / 4)),
    ),
  );

describe('the advantages of rollouts that form a tree', () => {
  it('are those of the estimator where nothing parts', () => {
    expect(treeAdvantages([1, 0, 0.5, null].map(root), grpo)).toEqual(
      grpo([1, 0, 0.5, null]).map((advantage) => [{ from: 0, advantage }]),
    );
  });

  it('hold siblings against each other behind the turn where they part, and the prefix by what they came to', () => {
    // The first is left behind its fourth node by two more: V there is (1 + 0 + 0.5) / 3.
    const [first, second, third, fourth] = treeAdvantages(
      [root(1), root(0.2), leaving(0, 4, 0), leaving(0, 4, 0.5)],
      rloo,
    );
    expect(first).toEqual([
      { from: 0, advantage: expect.closeTo(0.5 - 0.2, 12) as number },
      { from: 4, advantage: expect.closeTo(1 - 0.25, 12) as number },
    ]);
    expect(second).toEqual([{ from: 0, advantage: expect.closeTo(0.2 - 0.5, 12) as number }]);
    expect(third).toEqual([{ from: 4, advantage: expect.closeTo(0 - 0.75, 12) as number }]);
    expect(fourth).toEqual([{ from: 4, advantage: expect.closeTo(0.5 - 0.5, 12) as number }]);
  });

  it('let a later parting count before an earlier one, also in a branch', () => {
    // 2 leaves 0 behind node 2; 3 leaves 2 behind node 5, and 4 leaves 0 behind node 6.
    const members = [root(1), root(0), leaving(0, 2, 0), leaving(2, 5, 1), leaving(0, 6, 0)];
    const parts = treeAdvantages(members, rloo);
    // V behind 6 of the first: 1/2; of the branch behind 5: 1/2; so V behind 2 is 1/2 and its siblings are equal.
    expect(parts[0]).toEqual([
      { from: 0, advantage: 0.5 },
      { from: 2, advantage: 0 },
      { from: 6, advantage: 1 },
    ]);
    expect(parts[2]).toEqual([
      { from: 2, advantage: 0 },
      { from: 5, advantage: -1 },
    ]);
    expect([parts[3], parts[4]]).toEqual([[{ from: 5, advantage: 1 }], [{ from: 6, advantage: -1 }]]);
  });

  it('take a branch that leaves another within what that shares for its sibling', () => {
    const own = treeAdvantages([root(1), root(0), leaving(0, 4, 0.5), leaving(0, 4, 0)], rloo);
    expect(treeAdvantages([root(1), root(0), leaving(0, 4, 0.5), leaving(2, 4, 0)], rloo)).toEqual(own);
    const earlier = treeAdvantages([root(1), root(0), leaving(0, 4, 0.5), leaving(0, 2, 0)], rloo);
    expect(treeAdvantages([root(1), root(0), leaving(0, 4, 0.5), leaving(2, 2, 0)], rloo)).toEqual(earlier);
  });

  it('leave out what the machine failed', () => {
    const failed = treeAdvantages([root(1), root(0), leaving(0, 3, null), leaving(0, 3, 0)], grpo);
    const without = treeAdvantages([root(1), root(0), leaving(0, 3, 0)], grpo);
    expect([failed[0], failed[1], failed[3]]).toEqual(without);
    expect(failed[2]).toEqual([{ from: 3, advantage: 0 }]);
    expect(treeAdvantages([root(null), root(0), leaving(0, 3, 1)], rloo)[1]).toEqual([{ from: 0, advantage: -1 }]);
  });

  it('begin where a rollout’s own nodes do, cancel out among siblings, and are all 0 exactly where all rewards are equal', () => {
    fc.assert(
      fc.property(anyGroup, (members) => {
        const parts = treeAdvantages(members, grpo);
        let sum = 0;
        parts.forEach((own, member) => {
          expect(own.length).toBeGreaterThan(0);
          expect(own[0]!.from).toBe(members[member]!.shared);
          expect(own.map(({ from }) => from)).toEqual([...new Set(own.map(({ from }) => from))].sort((a, b) => a - b));
          for (const { advantage } of own) sum += advantage;
        });
        expect(sum).toBeCloseTo(0, 6);
        const equal = members.map((member) => ({ ...member, reward: member.reward === null ? null : 0.1 + 0.2 }));
        for (const { advantage } of treeAdvantages(equal, grpo).flat()) expect(advantage).toBe(0);
      }),
    );
  });

  it('give siblings the same, whatever comes before they part', () => {
    fc.assert(
      fc.property(anyGroup, fc.integer({ min: -4, max: 4 }), (members, reward) => {
        const [other, ...rest] = treeAdvantages([root(reward), ...shifted(members)], rloo);
        const before = treeAdvantages(members, rloo);
        expect(other).toHaveLength(1);
        rest.forEach((own, member) => {
          const behind = (parts: typeof own) => parts.filter(({ from }) => from > 0);
          expect(behind(own)).toEqual(behind(before[member]!));
        });
      }),
    );
  });
});

/** The same members behind one more root. */
const shifted = (members: readonly TreeMember[]): TreeMember[] =>
  members.map((member) => ({ ...member, parent: member.parent === null ? null : member.parent + 1 }));

it('a part’s advantage goes to the sampled tokens of its nodes', () => {
  const parts = [
    { from: 1, advantage: 2 },
    { from: 3, advantage: -1 },
  ];
  const nodeOfToken = [0, 0, 1, 2, 2, 3, 4];
  expect([...overParts(parts, nodeOfToken, Uint8Array.of(0, 0, 1, 0, 1, 1, 1))]).toEqual([0, 0, 2, 0, 2, -1, -1]);
});

describe('the gradient that they give', () => {
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
  /** Probability of an action (0 or 1) of a policy with one logit, and d log of it / d logit. */
  const probability = (logit: number, action: number) => (action === 1 ? sigmoid(logit) : 1 - sigmoid(logit));
  const slope = (logit: number, action: number) => action - sigmoid(logit);
  // Two turns of two actions each; the second turn has a logit of its own behind each first action.
  const rewards = [
    [0.2, 1],
    [0.7, -0.4],
  ];
  const expected = ([first, ...second]: readonly number[]) =>
    [0, 1].reduce(
      (sum, a) =>
        sum +
        [0, 1].reduce((inner, b) => inner + probability(first!, a) * probability(second[a]!, b) * rewards[a]![b]!, 0),
      0,
    );

  it('is on average that of the expected reward, as often as a turn was played (finite differences)', () => {
    const logits = [0.3, -0.5, 0.8];
    // Two rollouts a b and c d; a third takes the first action of the first and plays the second turn again: a e.
    const total = [0, 0, 0];
    const bits = [0, 1];
    for (const a of bits)
      for (const b of bits)
        for (const c of bits)
          for (const d of bits)
            for (const e of bits) {
              const chance =
                probability(logits[0]!, a) *
                probability(logits[1 + a]!, b) *
                probability(logits[0]!, c) *
                probability(logits[1 + c]!, d) *
                probability(logits[1 + a]!, e);
              const members = [root(rewards[a]![b]!), root(rewards[c]![d]!), leaving(0, 1, rewards[a]![e]!)];
              const [first, second, third] = treeAdvantages(members, rloo);
              total[0]! += chance * first![0]!.advantage * slope(logits[0]!, a);
              total[1 + a]! += chance * first![1]!.advantage * slope(logits[1 + a]!, b);
              total[0]! += chance * second![0]!.advantage * slope(logits[0]!, c);
              total[1 + c]! += chance * second![0]!.advantage * slope(logits[1 + c]!, d);
              total[1 + a]! += chance * third![0]!.advantage * slope(logits[1 + a]!, e);
            }
    const played = [2, 3, 3];
    logits.forEach((_, index) => {
      const moved = (by: number) => expected(logits.map((logit, i) => (i === index ? logit + by : logit)));
      const wanted = (played[index]! * (moved(1e-5) - moved(-1e-5))) / 2e-5;
      expect(total[index]).toBeCloseTo(wanted, 8);
    });
  });
});
