import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './advantages.js';
import { subgoalAdvantages, subgoalRewards, subgoalStates, type SubgoalEpisode } from './subgoals.js';

const episode = (turns: number, reward: number | null, reached: Readonly<Record<string, number>>): SubgoalEpisode => ({
  turns,
  reward,
  reachedIn: new Map(Object.entries(reached)),
  worth: 0.2,
});
const options = { gamma: 0.5, stepWeight: 2 };

describe('subgoal returns', () => {
  it('pay a subgoal in the turn that reached it, and sum up to the reward whatever was reached', () => {
    const [first, second, last] = subgoalRewards(episode(3, 1, { opened: 0, edited: 1 }));
    expect([first, second]).toEqual([0.2, 0.2]);
    expect(last).toBeCloseTo(0.6, 12);
    const anyEpisode = fc
      .record({
        turns: fc.integer({ min: 1, max: 6 }),
        reward: fc.double({ min: -2, max: 2, noNaN: true }),
        reached: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(5)),
      })
      .map(({ turns, reward, reached }) =>
        episode(
          turns,
          reward,
          Object.fromEntries(Object.entries(reached).map(([name, turn]) => [name, Math.min(turn, turns - 1)])),
        ),
      );
    fc.assert(
      fc.property(anyEpisode, (one) => {
        expect(subgoalRewards(one).reduce((sum, value) => sum + value, 0)).toBeCloseTo(one.reward!, 9);
        expect(new Set(subgoalStates(one)).size).toBe(one.turns);
      }),
    );
  });

  it('compare turns that have come as far: the same subgoals, the last as many turns ago', () => {
    const states = (turns: number, reached: Readonly<Record<string, number>>) =>
      subgoalStates(episode(turns, 1, reached));
    const [one, other] = [states(4, { a: 1, b: 1 }), states(3, { b: 0, a: 0 })];
    expect(one[0]).toBe(other[0]);
    expect(one[1]).not.toBe(other[1]);
    expect([one[2], one[3]]).toEqual([other[1], other[2]]);
    expect(states(2, { a: 0 })[1]).not.toBe(states(2, { b: 0 })[1]);
  });

  it('are the hand-computed ones', () => {
    // Rewards .2 .2 .6 and 0 .2: returns .45 .5 .6 and .1 .2. Only the first turns have come as far as each other.
    const [straight, slow] = subgoalAdvantages([episode(3, 1, { a: 0, b: 1 }), episode(2, 0.2, { a: 1 })], options);
    const whole = groupAdvantages([1, 0.2]).advantages;
    const first = groupAdvantages([0.45, 0.1]).advantages;
    [whole[0] + 2 * first[0], whole[0], whole[0]].forEach((value, turn) =>
      expect(straight[turn]).toBeCloseTo(value, 9),
    );
    [whole[1] + 2 * first[1], whole[1]].forEach((value, turn) => expect(slow[turn]).toBeCloseTo(value, 9));
  });

  it('tell rollouts of equal rewards apart where one came to its subgoals earlier', () => {
    const [early, late] = subgoalAdvantages([episode(2, 0.2, { a: 0 }), episode(2, 0.2, { a: 1 })], options);
    expect(early[0]).toBeGreaterThan(0);
    expect(late[0]).toBeCloseTo(-early[0], 9);
  });

  it('are exactly zero where nothing differs, and for rollouts that the machine failed', () => {
    const same = () => episode(3, 0.3, { a: 1 });
    expect(subgoalAdvantages([same(), same(), episode(2, null, {})], options)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0],
    ]);
  });
});
