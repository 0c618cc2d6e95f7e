import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './advantages.js';

const reward = fc.double({ min: -2, max: 2, noNaN: true });

describe('group advantages', () => {
  it('are the hand-computed ones', () => {
    // mean 0.5, sample deviation sqrt((4 * 0.25) / 3) = 0.57735
    const { advantages, mean, standardDeviation } = groupAdvantages([1, 0, 1, 0]);
    expect(mean).toBe(0.5);
    expect(standardDeviation).toBeCloseTo(0.5773502691896258, 12);
    expect(advantages[0]).toBeCloseTo(0.5 / 0.5774502691896258, 12);
    expect(advantages).toEqual([advantages[0], -advantages[0], advantages[0], -advantages[0]]);
  });

  it('are exactly zero where rewards are equal, also where a mean of them would round', () => {
    const group = new Array<number>(7).fill(0.1 + 0.2);
    expect(groupAdvantages(group)).toMatchObject({ advantages: group.map(() => 0), equalRewards: true });
    expect(groupAdvantages([0.3, 0.1 + 0.2]).equalRewards).toBe(false);
  });

  it('leave out rollouts that the machine failed, from mean and deviation alike', () => {
    const { advantages } = groupAdvantages([1, null, 0, null, 1, 0]);
    expect([advantages[1], advantages[3]]).toEqual([0, 0]);
    expect(advantages.filter((_, index) => index !== 1 && index !== 3)).toEqual(
      groupAdvantages([1, 0, 1, 0]).advantages,
    );
    expect(groupAdvantages([null, null])).toMatchObject({ advantages: [0, 0], equalRewards: true });
    expect(groupAdvantages([0.7, null])).toMatchObject({ advantages: [0, 0], equalRewards: true });
  });

  it('sum to zero, keep the order of the rewards and do not move when all rewards shift', () => {
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 16 }), (rewards) => {
        const { advantages } = groupAdvantages(rewards);
        expect(advantages.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
        for (let i = 0; i < rewards.length; i++) {
          for (let j = 0; j < rewards.length; j++) {
            if (rewards[i] < rewards[j]) expect(advantages[i]).toBeLessThanOrEqual(advantages[j]);
          }
        }
        const shifted = groupAdvantages(rewards.map((value) => value + 0.5)).advantages;
        advantages.forEach((value, index) => expect(shifted[index]).toBeCloseTo(value, 6));
      }),
    );
  });
});
