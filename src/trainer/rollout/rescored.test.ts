import { describe, expect, test } from 'vitest';
import { fixtureModels } from '../text/fixtureCodecs.testing.js';
import { rescored } from './rescored.testing.js';

const count = Math.ceil(1000 / fixtureModels.length);

describe('a thousand trajectories: a learner gives the stored ids the log-probabilities that they were sampled with', () => {
  test.each(fixtureModels)(
    '%s',
    async (model) => {
      const { trajectories, turns, ended, inexact, sampledTokens, difference } = await rescored(model, count, 1);
      expect([trajectories, inexact]).toEqual([count, 0]);
      expect(turns).toBeGreaterThan(trajectories);
      expect(ended).toBeGreaterThan(0);
      expect(ended).toBeLessThan(turns);
      expect(sampledTokens).toBeGreaterThan(turns);
      expect(difference).toBeGreaterThan(0);
      expect(difference).toBeLessThan(1e-4);
    },
    300_000,
  );
});
