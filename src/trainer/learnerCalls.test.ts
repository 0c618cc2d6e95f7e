import { describe, expect, it } from 'vitest';
import { updateCounts } from './learnerCalls.js';

describe('the counts of updates', () => {
  it('tell those that were made from those whose gradient was not finite', () => {
    const steps = [{ skipped: false }, { skipped: true }, { skipped: false }];
    expect(updateCounts(steps)).toEqual({ 'updates/made': 2, 'updates/skipped': 1 });
  });

  it("have the last update's scale of the loss with them, where there is one", () => {
    const steps = [
      { skipped: false, lossScale: 4096 },
      { skipped: true, lossScale: 2048 },
    ];
    expect(updateCounts(steps)).toEqual({ 'updates/made': 1, 'updates/skipped': 1, loss_scale: 2048 });
    expect(updateCounts([])).toEqual({ 'updates/made': 0, 'updates/skipped': 0 });
  });
});
