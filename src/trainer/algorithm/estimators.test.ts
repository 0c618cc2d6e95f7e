import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages, type GroupAdvantages } from './advantages.js';
import { drGrpoAdvantages } from './drGrpo.js';
import { reinforcePlusPlusAdvantages } from './reinforcePlusPlus.js';
import { rlooAdvantages } from './rloo.js';

type Rewards = (number | null)[];
const estimators: [string, (rewards: Rewards, outcomes?: Rewards) => GroupAdvantages][] = [
  ['GRPO', groupAdvantages],
  ['Dr. GRPO', drGrpoAdvantages],
  ['RLOO', rlooAdvantages],
];
const reward = fc.double({ min: -2, max: 2, noNaN: true });

interface Golden {
  readonly groups: number[];
  readonly rewards: number[];
  readonly mask: number[][];
  readonly penalties: number[][];
  readonly grpo: number[][];
  readonly drGrpo: number[][];
  readonly rloo: number[][];
  readonly reinforcePlusPlus: number[][];
  readonly reinforcePlusPlusBaseline: number[][];
}

const { advantages: golden } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'golden', 'policyLosses.json'), 'utf8'),
) as { advantages: Golden };
const masks = golden.mask.map((mask) => Uint8Array.from(mask));
const penalties = golden.penalties.map((each) => Float64Array.from(each));
const penalized = golden.rewards.map((value, i) => value - golden.penalties[i].reduce((sum, each) => sum + each, 0));
const inGroups = (of: (rewards: number[]) => readonly number[], rewards: number[]) =>
  [0, 1].flatMap((group) => of(rewards.filter((_, i) => golden.groups[i] === group)));

describe.each(estimators)('advantages of %s', (_, advantagesOf) => {
  it('are exactly zero where rewards are equal, and where outcomes are that a penalty drew apart', () => {
    fc.assert(
      fc.property(reward, fc.array(reward, { minLength: 2, maxLength: 9 }), (outcome, apart) => {
        const equal = apart.map(() => outcome);
        expect(advantagesOf(equal)).toMatchObject({ advantages: equal.map(() => 0), equalRewards: true });
        expect(advantagesOf(apart, equal)).toMatchObject({ advantages: equal.map(() => 0), equalRewards: true });
      }),
    );
  });

  it('leave out rollouts that the machine failed', () => {
    const { advantages } = advantagesOf([1, null, 0.5, 0]);
    expect(advantages[1]).toBe(0);
    expect(advantages.filter((_, index) => index !== 1)).toEqual(advantagesOf([1, 0.5, 0]).advantages);
  });
});

describe('advantages', () => {
  it('of RLOO hold each reward against the mean of the others', () => {
    fc.assert(
      fc.property(fc.array(reward, { minLength: 2, maxLength: 9 }), (rewards) => {
        rlooAdvantages(rewards).advantages.forEach((advantage, i) => {
          const others = rewards.filter((_, j) => j !== i);
          expect(advantage).toBeCloseTo(rewards[i] - others.reduce((sum, r) => sum + r, 0) / others.length, 10);
        });
      }),
    );
  });

  it('of REINFORCE++ have mean 0 and deviation 1 over the tokens of the batch, and none elsewhere', () => {
    const batch = reinforcePlusPlusAdvantages(golden.rewards, masks, penalties);
    const tokens = batch.flatMap((each, i) => [...each].filter((_, t) => masks[i][t] === 1));
    expect(tokens.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 10);
    expect(tokens.reduce((sum, value) => sum + value ** 2, 0) / (tokens.length - 1)).toBeCloseTo(1, 5);
    batch.forEach((each, i) => each.forEach((value, t) => expect(masks[i][t] === 1 || value === 0).toBe(true)));
  });

  it('of REINFORCE++ are exactly zero in a batch of equal rewards', () => {
    const third = [0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2];
    const batch = reinforcePlusPlusAdvantages(third, masks.slice(0, 3), null);
    expect(batch.every((each) => each.every((value) => value === 0))).toBe(true);
  });

  it("equal verl's (scripts/golden/policy_losses.py)", () => {
    const close = (found: readonly ArrayLike<number>[], wanted: readonly number[][]) =>
      wanted.forEach((row, i) => row.forEach((value, t) => expect(found[i][t]).toBeCloseTo(value, 7)));
    const spread = (values: readonly number[]) =>
      values.map((value, i) => [...masks[i]].map((bit) => (bit === 0 ? 0 : value)));
    close(spread(inGroups((rewards) => groupAdvantages(rewards).advantages, penalized)), golden.grpo);
    close(spread(inGroups((rewards) => drGrpoAdvantages(rewards).advantages, penalized)), golden.drGrpo);
    close(spread(inGroups((rewards) => rlooAdvantages(rewards).advantages, penalized)), golden.rloo);
    close(reinforcePlusPlusAdvantages(golden.rewards, masks, penalties), golden.reinforcePlusPlus);
    const centred = inGroups((rewards) => drGrpoAdvantages(rewards).advantages, golden.rewards);
    close(reinforcePlusPlusAdvantages(centred, masks, null), golden.reinforcePlusPlusBaseline);
  });
});
