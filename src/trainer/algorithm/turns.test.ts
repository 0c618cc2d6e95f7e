import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages } from './advantages.js';
import { gigpoAdvantages, type GigpoEpisode } from './gigpo.js';
import { igpoAdvantages } from './igpo.js';
import { informationGains } from './informationGain.js';
import { overTokens, turnReturns } from './turnReturns.js';

describe('turn returns', () => {
  it('are discounted from turn to turn', () => {
    expect(turnReturns([0, 0, 1], 0.5)).toEqual([0.25, 0.5, 1]);
    expect(turnReturns([1, -1, 2], 1)).toEqual([2, 1, 2]);
    expect(turnReturns([], 0.9)).toEqual([]);
  });

  it('are the same for all tokens of a turn, and none for others', () => {
    const turns = overTokens([0.25, 0.5], [0, 0, NaN, 1, 1], Uint8Array.of(1, 1, 0, 1, 0));
    expect([...turns]).toEqual([0.25, 0.25, 0, 0.5, 0]);
  });
});

describe('information gains', () => {
  it('are the growth of the belief in the answer, turn by turn', () => {
    const gains = informationGains([Math.log(0.1), Math.log(0.4), Math.log(0.3), 0]);
    [0.3, -0.1, 0.7].forEach((gain, turn) => expect(gains[turn]).toBeCloseTo(gain, 12));
    expect(informationGains([-2])).toEqual([]);
    expect(informationGains([-2, -2, -2])).toEqual([0, 0]);
  });
});

describe('advantages of GiGPO', () => {
  const episode = (states: string, reward: number | null, turnRewards = [...states].map(() => 0)): GigpoEpisode => ({
    states: [...states],
    reward,
    turnRewards: reward === null ? turnRewards : turnRewards.with(-1, reward),
  });
  const plain = { gamma: 0.5, stepWeight: 2, normalize: false };

  it('are the hand-computed ones', () => {
    // Returns: abc 1/4 1/2 1, ab 0 0; a: mean 1/8, b: mean 1/4, c alone. Episodes: mean 1/2.
    expect(gigpoAdvantages([episode('abc', 1), episode('ab', 0)], plain)).toEqual([
      [0.5 + 0.25, 0.5 + 0.5, 0.5],
      [-0.5 - 0.25, -0.5 - 0.5],
    ]);
  });

  it('prefer the shorter way from a state, between two successes', () => {
    const [straight, detour] = gigpoAdvantages([episode('ab', 1), episode('axyb', 1)], plain);
    expect(straight[0]).toBeGreaterThan(0);
    expect(detour[0]).toBe(-straight[0]);
    expect([straight[1], detour[1], detour[2], detour[3]]).toEqual([0, 0, 0, 0]);
  });

  it('count a state that a rollout comes back to as often as it does', () => {
    // a: returns 1/2 and 1, mean 3/4.
    expect(gigpoAdvantages([episode('aa', 1)], { ...plain, stepWeight: 1 })).toEqual([[-0.25, 0.25]]);
  });

  it('are exactly zero where all rewards of all turns are equal, and for rollouts that the machine failed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 })),
        fc.boolean(),
        (states, normalize) => {
          const silent = states.map((each) => ({ states: each, reward: 0, turnRewards: each.map(() => 0) }));
          const options = { ...plain, normalize };
          expect(
            gigpoAdvantages(silent, options)
              .flat()
              .every((value) => value === 0),
          ).toBe(true);
        },
      ),
    );
    const withFailed = gigpoAdvantages([episode('ab', 1), episode('abab', null), episode('ab', 0)], plain);
    expect(withFailed[1]).toEqual([0, 0, 0, 0]);
    expect([withFailed[0], withFailed[2]]).toEqual(gigpoAdvantages([episode('ab', 1), episode('ab', 0)], plain));
  });

  it("are GRPO's where no state is seen twice", () => {
    const episodes = [episode('ab', 1), episode('cd', 0), episode('e', 0.5)];
    const { advantages } = groupAdvantages([1, 0, 0.5]);
    const expected = episodes.map(({ states }, i) => states.map(() => advantages[i]));
    expect(gigpoAdvantages(episodes, { ...plain, normalize: true })).toEqual(expected);
  });
});

interface Golden {
  readonly gamma: number;
  readonly stepWeight: number;
  readonly normalize: boolean;
  readonly episodes: { readonly reward: number; readonly states: string[]; readonly gains: number[] }[];
  readonly gigpo: number[][];
  readonly igpo: number[][];
}

const { cases } = JSON.parse(readFileSync(path.join(import.meta.dirname, 'golden', 'turnCredit.json'), 'utf8')) as {
  cases: Golden[];
};

describe.each(cases)('in a group of $episodes.length (scripts/golden/turn_credit.py)', (golden) => {
  const close = (found: readonly (readonly number[])[], wanted: readonly (readonly number[])[]) => {
    expect(found.map(({ length }) => length)).toEqual(wanted.map(({ length }) => length));
    found.forEach((turns, i) => turns.forEach((value, k) => expect(value).toBeCloseTo(wanted[i][k], 5)));
  };

  it("the advantages of GiGPO are its authors'", () => {
    const episodes = golden.episodes.map(({ reward, states }) => ({
      reward,
      states,
      turnRewards: states.map((_, turn) => (turn === states.length - 1 ? reward : 0)),
    }));
    close(gigpoAdvantages(episodes, golden), golden.gigpo);
  });

  it('the advantages of IGPO are those of its paper', () => {
    close(igpoAdvantages(golden.episodes, golden.gamma), golden.igpo);
  });
});
