import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { adapterStep, type AdapterStep } from '../../../test/support/adapterStep.js';
import { goldenNames, relativeError } from '../../../test/support/goldenModels.js';
import { goldenStep, type GoldenStep } from '../../../test/support/goldenStep.js';
import { residentSteps } from '../../../test/support/residentSteps.js';
import type { ObservedSteps } from '../../../test/support/residentStepsMain.js';
import type { Rewritten } from '../../../test/support/rewriteMain.js';
import { runBundled } from '../../../test/support/runBundled.js';
import { sessionGradients } from '../../../test/support/sessionGradients.js';
import { hasSoftwareVulkan, softwareVulkan } from '../../../test/support/softwareVulkan.js';

// In continuous integration the device must be there: its absence fails the tests instead of skipping them.
const skip = !hasSoftwareVulkan && !process.env['CI'];

describe.skipIf(skip)('the learner on WebGPU', { timeout: 300_000 }, () => {
  it.each(goldenNames)('takes the same step as on the CPU: %s', (name) => expectSameStep(name));

  it('takes the same step where micro-batches follow others', () => expectSameStep('mistral', 16));

  it('finds the same gradients where layers are computed again', async () => {
    const { env, folder } = await softwareVulkan();
    try {
      const program = 'test/support/sessionGradientsMain.ts';
      const output = await runBundled(program, ['qwen2', 'webgpu'], { env, timeoutMs: 290_000 });
      const found = JSON.parse(output) as Record<string, number[]>;
      const { found: wanted } = await sessionGradients('qwen2', 'cpu', { isAdapted: false, recomputed: false });
      expect(Object.keys(found)).toEqual([...wanted.keys()]);
      for (const [name, values] of wanted) {
        expect(relativeError(Float32Array.from(found[name]), values), name).toBeLessThan(1e-3);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('shares the weights under an adapter with the generator, on the device', async () => {
    const { env, folder } = await softwareVulkan();
    try {
      const program = 'test/support/adapterStepMain.ts';
      const output = await runBundled(program, ['qwen2', 'webgpu'], { env, timeoutMs: 290_000 });
      const found = JSON.parse(output) as AdapterStep;
      const wanted = await adapterStep('qwen2', 'cpu');
      // Of each of two layers seven matrices, two norms and three biases; the last norm and the embedding, which is the head too.
      expect([wanted.resident, found.resident]).toEqual([0, 26]);
      expect(found.tokenIds).toEqual(wanted.tokenIds);
      expect(scoresError(found.logprobs, wanted.logprobs)).toBeLessThan(1e-3);
      for (const [factor, values] of Object.entries(wanted.gradients)) {
        const error = relativeError(Float32Array.from(found.gradients[factor]), Float32Array.from(values));
        expect(error, factor).toBeLessThan(1e-3);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  // Some 100 runs of a device in software.
  it(
    'brings what it trained to the device once an update, for the generator too, and leaves nothing there',
    { timeout: 600_000 },
    async () => {
      const { env, folder } = await softwareVulkan();
      try {
        const updates = 20;
        const program = 'test/support/residentStepsMain.ts';
        const output = await runBundled(program, ['qwen2', 'webgpu', String(updates)], { env, timeoutMs: 580_000 });
        const { steps, work } = JSON.parse(output) as ObservedSteps;
        const wanted = await residentSteps('qwen2', 'cpu', updates);
        expect(steps).toHaveLength(updates + 2);
        wanted.forEach(({ logprobs, sampled }, index) => {
          const found = steps[index];
          logprobs.forEach((row, sequence) => expect(scoresError(found.logprobs[sequence], row)).toBeLessThan(1e-4));
          expect(found.sampled.tokenIds).toEqual(sampled.tokenIds);
          expect(scoresError(found.sampled.logprobs, sampled.logprobs)).toBeLessThan(1e-4);
        });
        // What is trained: 26 parameters and a critic's two; with them lie the two tables of the positions.
        const nothing = { put: 0, rewritten: 0, freed: 0, runs: 0, fedParameters: 0 };
        const scored = (rewritten: number) => ({ ...nothing, event: 'scored', rewritten, runs: 1 });
        const sampled = { ...nothing, event: 'sampled', runs: 3 };
        const learned = { ...nothing, event: 'learned', runs: 1 };
        expect(work).toEqual([
          { ...nothing, event: 'created', put: 30 },
          ...Array.from({ length: updates }, () => [learned, scored(28), sampled]).flat(),
          { ...nothing, event: 'skipped', runs: 1 },
          scored(0),
          sampled,
          { ...nothing, event: 'loaded' },
          scored(28),
          sampled,
          { ...nothing, event: 'disposed', freed: 30 },
        ]);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  );

  it('overwrites what lies on the device in the memory that it has', async () => {
    const { env, folder } = await softwareVulkan();
    try {
      const megabytes = 16;
      const times = 20;
      const program = 'test/support/rewriteMain.ts';
      const output = await runBundled(program, [String(megabytes), String(times)], { env, timeoutMs: 290_000 });
      const { last, grownBy } = JSON.parse(output) as Rewritten;
      expect(last).toBe(times);
      // On the way there the runtime holds a few of them.
      expect(grownBy).toBeLessThan((megabytes * times) / 2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

async function expectSameStep(name: (typeof goldenNames)[number], tokens?: number): Promise<void> {
  const { env, folder } = await softwareVulkan();
  try {
    const args = [name, 'webgpu', ...(tokens === undefined ? [] : [String(tokens)])];
    const output = await runBundled('test/support/goldenStepMain.ts', args, { env, timeoutMs: 290_000 });
    const found = JSON.parse(output) as GoldenStep;
    const wanted = await goldenStep(name, 'cpu');
    wanted.logprobs.forEach((logprobs, index) => {
      expect(scoresError(found.logprobs[index], logprobs)).toBeLessThan(1e-3);
      expect(scoresError(found.entropies[index], wanted.entropies[index])).toBeLessThan(1e-3);
    });
    for (const kind of ['gradients', 'parameters'] as const) {
      expect(Object.keys(found[kind])).toEqual(Object.keys(wanted[kind]));
      for (const [parameter, values] of Object.entries(wanted[kind])) {
        const error = relativeError(Float32Array.from(found[kind][parameter]), Float32Array.from(values));
        expect(error, `${kind} ${parameter}`).toBeLessThan(1e-3);
      }
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Relative error over the asked places; NaN became null on the way through JSON. */
function scoresError(found: readonly (number | null)[], wanted: readonly number[]): number {
  const asked = [...wanted.keys()].filter((place) => !Number.isNaN(wanted[place]));
  const at = (values: readonly (number | null)[]) => Float32Array.from(asked, (place) => values[place] ?? NaN);
  return relativeError(at(found), at(wanted));
}
