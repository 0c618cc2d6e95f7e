import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loraSchema } from '../../trainer/run/learnerSettings.js';
import { trainedChoices } from './trainedChoices.js';

const set = loraSchema.parse({});
const loras = fc.record({
  rank: fc.integer({ min: 0, max: 1024 }),
  alpha: fc.double({ min: 0.5, max: 64, noNaN: true }),
  targets: fc.constant(set.targets.slice(0, 2)),
});

describe('what can be trained of a model', () => {
  it('is all of it, or an adapter of a usual rank', () => {
    expect(trainedChoices(set, null).map(({ label }) => label)).toEqual([
      'All parameters',
      'An adapter of rank 8',
      'An adapter of rank 32',
    ]);
    expect(trainedChoices({ ...set, alpha: 16, targets: ['q_proj', 'v_proj'] }, null)[1]).toEqual({
      label: 'An adapter of rank 8',
      words: 'alpha 16 · q_proj, v_proj',
      lora: { rank: 8, alpha: 16, targets: ['q_proj', 'v_proj'] },
    });
  });

  it('begins with what is set, and offers nothing twice', () => {
    fc.assert(
      fc.property(loras, (lora) => {
        const ranks = trainedChoices(lora, null).map((choice) => choice.lora.rank);
        expect(trainedChoices(lora, null)[0].lora).toEqual(lora);
        expect(new Set(ranks).size).toBe(ranks.length);
        expect(ranks).toEqual(expect.arrayContaining([0, 8, 32]));
      }),
    );
  });

  it('is of an adapter that very one, or its model with it merged in', () => {
    const own = { rank: 4, alpha: 8.000000001, targets: ['up_proj' as const] };
    const [merged, goesOn] = trainedChoices(set, own);
    expect(merged).toMatchObject({ lora: { rank: 0 }, words: '' });
    expect(goesOn).toEqual({ lora: own, label: 'The adapter itself, of rank 4', words: 'alpha 8 · up_proj' });
    expect(trainedChoices({ ...set, rank: 16 }, own).map(({ lora }) => lora.rank)).toEqual([4, 0]);
  });
});
