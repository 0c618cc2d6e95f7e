import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettings, type SettingsInput } from '../run/settings.js';
import { policyStepOf } from './playedAhead.js';
import { stagePlans } from './stages.js';

const settingsOf = (maxStaleness: number, stages: SettingsInput['stages']) =>
  parseSettings({ asynchrony: { maxStaleness }, stages });

describe('the weights that play a step', () => {
  it('are those before it where steps and updates go by turns', () => {
    const settings = settingsOf(0, [
      { method: 'rejection-sampling', steps: 2 },
      { method: 'policy-gradient', steps: 3 },
    ]);
    expect([1, 2, 3, 4, 5].map((step) => policyStepOf(settings, step))).toEqual([0, 1, 2, 3, 4]);
  });

  it('are older by so many updates, begin with the stage, and play nothing where a stage plays nothing', () => {
    const settings = settingsOf(2, [
      { method: 'rejection-sampling', steps: 1 },
      { method: 'dpo', steps: 2, recorded: true },
      { method: 'policy-gradient', steps: 5 },
    ]);
    expect([1, 2, 3, 4, 5, 6, 7, 8].map((step) => policyStepOf(settings, step))).toEqual([0, 1, 2, 3, 3, 3, 4, 5]);
  });

  it('are never too old, never of another stage, and never older than those of the step before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 8 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
        (maxStaleness, lengths) => {
          const settings = settingsOf(
            maxStaleness,
            lengths.map((steps) => ({ method: 'policy-gradient', steps })),
          );
          let before = 0;
          for (const { firstStep, lastStep } of stagePlans(settings)) {
            for (let step = firstStep; step <= lastStep; step++) {
              const policyStep = policyStepOf(settings, step);
              expect(step - 1 - policyStep).toBeLessThanOrEqual(maxStaleness);
              expect(policyStep).toBeGreaterThanOrEqual(Math.max(before, firstStep - 1));
              expect(policyStep).toBeLessThan(step);
              before = policyStep;
            }
          }
        },
      ),
    );
  });
});
