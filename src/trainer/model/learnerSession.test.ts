import { afterEach, describe, expect, it } from 'vitest';
import { goldenNames, readGoldenModel, type GoldenModel } from '../../../test/support/goldenModels.js';
import { runBundled } from '../../../test/support/runBundled.js';
import { packingLimits } from './learnerLimits.js';
import { LearnerSession, type FoundTargets } from './learnerSession.js';
import { freshAdapter, projections, type Adapter } from './lora.js';
import { longestTrunk, planBatches, type MicroBatch, type PlannedBatch } from './packing.js';
import { PrefixMemory } from './prefixMemory.js';
import { freshValueHead } from './valueHead.js';

const sessions: LearnerSession[] = [];
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.dispose();
});

async function sessionOf({ config, parameters }: GoldenModel, isAdapted: boolean): Promise<LearnerSession> {
  const adapter = isAdapted ? dense(freshAdapter(config, { rank: 2, alpha: 4, targets: projections }, 1)) : null;
  const model = { config, parameters: await parameters(), adapter, valueHead: freshValueHead(config) };
  const session = new LearnerSession(model, { device: 'cpu', threads: 2, resident: null });
  sessions.push(session);
  return session;
}

/** A fresh adapter's B is 0, behind which A has no gradient. */
function dense(adapter: Adapter): Adapter {
  for (const factor of adapter.factors.values())
    factor.forEach((_, i) => (factor[i] = Math.sin(i + factor.length) / 8));
  return adapter;
}

/** What `differentiate` hands out of every micro-batch, by number and name, and how those were computed. */
async function gradientsOf(
  session: LearnerSession,
  { config }: GoldenModel,
  plan: PlannedBatch[],
  recomputed: boolean,
) {
  const found = new Map<string, Float32Array>();
  const kinds = new Set<string>();
  let count = 0;
  const memory = new PrefixMemory(config.layers, config.keyValueHeads * config.headDim, longestTrunk(plan));
  const visit = async ({ batch, children }: PlannedBatch): Promise<void> => {
    const follows = memory.length > 0;
    if (children.length > 0) {
      memory.push(batch.filled, (await session.forward(batch, 0.7, memory, { scores: false, memory: true })).memory);
      for (const child of children) await visit(child);
      memory.pop(batch.filled);
    }
    const number = count++;
    kinds.add(
      `${follows ? 'past ' : ''}${batch.targets.length > 0 ? 'scores ' : ''}${children.length > 0 ? 'memory' : ''}`,
    );
    const wanted = coefficientsOf(batch);
    const { scores, stateValues } = await session.differentiate(
      { ...batch, recomputed },
      0.7,
      memory,
      wanted,
      children.length > 0,
      (name, gradient) => found.set(`${number} ${name}`, gradient.slice()),
    );
    found.set(`${number} scores`, scores.slice()).set(`${number} state values`, stateValues.slice());
    if (children.length > 0) memory.forget();
  };
  for (const planned of plan) await visit(planned);
  return { found, kinds };
}

const coefficientsOf = ({ targets }: MicroBatch): FoundTargets => ({
  scores: Float32Array.from({ length: 2 * targets.length }, (_, i) => ((7 * i) % 5) - 2),
  stateValues: Float32Array.from(targets, (_, i) => ((3 * i) % 4) - 1),
});

describe.each(goldenNames)('what is computed again for the gradients of %s', (name) => {
  it.each([
    ['all parameters', false],
    ['an adapter', true],
  ])('changes no bit of those of %s, in rows of several sequences and behind what they share', async (_, isAdapted) => {
    const golden = await readGoldenModel(name);
    const { config } = golden;
    const session = await sessionOf(golden, isAdapted);
    const limits = packingLimits({ config, device: 'cpu' });
    const shared = golden.sequences.map(({ tokenIds, actionMask }) => ({
      tokenIds: Int32Array.of(...golden.sequences[3].tokenIds.subarray(0, 12), ...tokenIds.subarray(0, 20)),
      actionMask: Uint8Array.of(...new Uint8Array(12), ...actionMask.subarray(0, 20)),
    }));
    const few = { ...limits, multiple: 4, tokens: () => 24, recomputedTokens: () => 24 };
    const plan = [...planBatches(golden.sequences, limits), ...planBatches(shared, few)];
    const wanted = await gradientsOf(session, golden, plan, false);
    const again = await gradientsOf(session, golden, plan, true);
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
