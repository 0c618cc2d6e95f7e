import { describe, expect, it } from 'vitest';
import { goldenNames } from '../../../test/support/goldenModels.js';
import { runBundled } from '../../../test/support/runBundled.js';
import { sessionGradients } from '../../../test/support/sessionGradients.js';

describe.each(goldenNames)('what is computed again for the gradients of %s', (name) => {
  it.each([
    ['all parameters', false],
    ['an adapter', true],
  ])('changes no bit of those of %s, in rows of several sequences and behind what they share', async (_, isAdapted) => {
    const wanted = await sessionGradients(name, 'cpu', { isAdapted, recomputed: false });
    const again = await sessionGradients(name, 'cpu', { isAdapted, recomputed: true });
    expect([...wanted.kinds].sort()).toEqual(['memory', 'past scores ', 'scores ']);
    expect(again.found).toEqual(wanted.found);
  });
});

it(
  'needs a fraction of the memory where layers are computed again, as the peak of a process shows',
  { timeout: 300_000 },
  async () => {
    const rise = async (mode: string) =>
      Number(await runBundled('test/support/peakMemoryMain.ts', [mode], { timeoutMs: 150_000 }));
    const [whole, recomputed] = [await rise('whole'), await rise('recomputed')];
    expect(recomputed).toBeGreaterThan(0);
    expect(recomputed).toBeLessThan(0.4 * whole);
  },
);
