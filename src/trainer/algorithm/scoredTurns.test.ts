import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoredTurns } from './scoredTurns.js';

/** A rollout whose turns have so many sampled tokens each, with a given token before each turn. */
function rolloutOf(lengths: readonly number[], values: readonly number[], reward: number) {
  const turnOfToken = lengths.flatMap((length, turn) => [-1, ...new Array<number>(length).fill(turn)]);
  const starts = lengths.map((_, turn) => turnOfToken.indexOf(turn));
  // Only the value where a turn begins counts.
  const stateValues = Float32Array.from(turnOfToken, () => 1e3);
  starts.forEach((at, turn) => (stateValues[at] = values[turn]));
  const actionMask = Uint8Array.from(turnOfToken, (turn) => (turn < 0 ? 0 : 1));
  return { rollout: { reward, actionMask, stateValues, penalties: null, turnOfToken, logRatios: null }, starts };
}

const number = fc.float({ min: -2, max: 2, noNaN: true });
const episodes = fc.record({
  turns: fc.array(fc.record({ length: fc.integer({ min: 1, max: 4 }), value: number }), { minLength: 1, maxLength: 6 }),
  reward: number,
  gamma: fc.double({ min: 0.5, max: 1, noNaN: true }),
});

describe('scored turns', () => {
  it('are credited with the outcome and with what they added to what the critic expects', () => {
    // V: 0.25, 0.5, 1; reward 0.75, gamma 0.5.
    const { rollout, starts } = rolloutOf([2, 1, 3], [0.25, 0.5, 1], 0.75);
    const outcomes = rollout.actionMask.map((bit) => bit * 2);
    const { advantages, targets, valued } = scoredTurns(outcomes, rollout, { gamma: 0.5, lambda: 0.4, weight: 0.1 });
    const scores = [0.5 * 0.5 - 0.25, 0.5 * 1 - 0.5, 0.75 - 1];
    const credits = [scores[0] + 0.2 * scores[1] + 0.04 * scores[2], scores[1] + 0.2 * scores[2], scores[2]];
    const wanted = rollout.turnOfToken.map((turn) => (turn < 0 ? 0 : 2 + 0.1 * credits[turn]));
    advantages.forEach((advantage, t) => expect(advantage).toBeCloseTo(wanted[t], 12));
    expect([...valued.keys()].filter((t) => valued[t] === 1)).toEqual(starts);
    expect(starts.map((t) => targets[t])).toEqual([0.1875, 0.375, 0.75]);
  });

  it('have scores that sum up to the return less what was expected at the start, whatever the critic says', () => {
    fc.assert(
      fc.property(episodes, ({ turns, reward, gamma }) => {
        const values = turns.map(({ value }) => value);
        const lengths = turns.map(({ length }) => length);
        const { rollout, starts } = rolloutOf(lengths, values, reward);
        const none = new Float64Array(rollout.actionMask.length);
        const { advantages } = scoredTurns(none, rollout, { gamma, lambda: 0, weight: 1 });
        const sum = starts.reduce((total, at, turn) => total + gamma ** turn * advantages[at], 0);
        expect(sum).toBeCloseTo(gamma ** (turns.length - 1) * reward - values[0], 5);
        // So with lambda 1 what the critic says of later turns has no part in a turn's credit.
        const whole = scoredTurns(none, rollout, { gamma, lambda: 1, weight: 1 }).advantages;
        starts.forEach((at, turn) =>
          expect(whole[at]).toBeCloseTo(gamma ** (turns.length - 1 - turn) * reward - values[turn], 5),
        );
        expect(advantages.filter((_, t) => rollout.actionMask[t] === 0).every((value) => value === 0)).toBe(true);
      }),
    );
  });

  it('are those of the outcome alone where the scores weigh nothing', () => {
    fc.assert(
      fc.property(episodes, ({ turns, reward, gamma }) => {
        const { rollout } = rolloutOf(
          turns.map(({ length }) => length),
          turns.map(({ value }) => value),
          reward,
        );
        const outcomes = Float64Array.from(rollout.actionMask, (bit, t) => bit * (t + 1));
        const { advantages, targets, valued } = scoredTurns(outcomes, rollout, { gamma, lambda: 0.5, weight: 0 });
        expect([...advantages]).toEqual([...outcomes]);
        // The critic learns all the same, what each turn came to.
        rollout.turnOfToken.forEach((turn, t) => {
          if (valued[t] === 1) expect(targets[t]).toBeCloseTo(gamma ** (turns.length - 1 - turn) * reward, 5);
        });
      }),
    );
  });
});
