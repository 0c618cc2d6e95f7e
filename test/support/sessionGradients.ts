import type { Provider } from '../../src/trainer/graph/provider.js';
import { packingLimits } from '../../src/trainer/model/learnerLimits.js';
import { LearnerSession, type FoundTargets } from '../../src/trainer/model/learnerSession.js';
import { freshAdapter, projections, type Adapter } from '../../src/trainer/model/lora.js';
import { longestTrunk, planBatches, type MicroBatch, type PlannedBatch } from '../../src/trainer/model/packing.js';
import { PrefixMemory } from '../../src/trainer/model/prefixMemory.js';
import { freshValueHead } from '../../src/trainer/model/valueHead.js';
import { readGoldenModel, type goldenNames } from './goldenModels.js';

export interface SessionGradients {
  /** What `differentiate` hands out of every micro-batch, by number and name. */
  readonly found: ReadonlyMap<string, Float32Array>;
  /** What the micro-batches follow, are asked for and leave to others. */
  readonly kinds: ReadonlySet<string>;
}

/**
 * Gradients of a golden model with a critic, and with an adapter if so wanted: of rows that hold several sequences, and of sequences
 * in pieces behind what they share; with layers computed again, or not.
 */
export async function sessionGradients(
  name: (typeof goldenNames)[number],
  device: Provider,
  { isAdapted, recomputed }: { readonly isAdapted: boolean; readonly recomputed: boolean },
): Promise<SessionGradients> {
  const { config, parameters, sequences } = await readGoldenModel(name);
  const limits = packingLimits({ config, device: 'cpu' });
  const beginning = sequences[3].tokenIds.subarray(0, 12);
  const shared = sequences.map(({ tokenIds, actionMask }) => ({
    tokenIds: Int32Array.of(...beginning, ...tokenIds.subarray(0, 20)),
    actionMask: Uint8Array.of(...new Uint8Array(beginning.length), ...actionMask.subarray(0, 20)),
  }));
  const few = { ...limits, multiple: 4, tokens: () => 24, recomputedTokens: () => 24 };
  const plan = [...planBatches(sequences, limits), ...planBatches(shared, few)];

  const adapter = isAdapted ? dense(freshAdapter(config, { rank: 2, alpha: 4, targets: projections }, 1)) : null;
  const model = { config, parameters: await parameters(), adapter, valueHead: freshValueHead(config) };
  const session = new LearnerSession(model, { device, threads: 2, resident: null });
  const memory = new PrefixMemory(config.layers, config.keyValueHeads * config.headDim, longestTrunk(plan));
  const found = new Map<string, Float32Array>();
  const kinds = new Set<string>();
  let count = 0;
  const visit = async ({ batch, children }: PlannedBatch): Promise<void> => {
    const isTrunk = children.length > 0;
    const [past, scores] = [memory.length > 0 ? 'past ' : '', batch.targets.length > 0 ? 'scores ' : ''];
    kinds.add(`${past}${scores}${isTrunk ? 'memory' : ''}`);
    if (isTrunk) {
      const { memory: own } = await session.forward(batch, temperature, memory, { scores: false, memory: true });
      memory.push(batch.filled, own);
      for (const child of children) await visit(child);
      memory.pop(batch.filled);
    }
    const number = count++;
    const { scores: ofTargets, stateValues } = await session.differentiate(
      { ...batch, recomputed },
      temperature,
      memory,
      coefficientsOf(batch),
      isTrunk,
      (parameter, gradient) => found.set(`${number} ${parameter}`, gradient.slice()),
    );
    found.set(`${number} scores`, ofTargets.slice()).set(`${number} state values`, stateValues.slice());
    if (isTrunk) memory.forget();
  };
  try {
    for (const planned of plan) await visit(planned);
  } finally {
    await session.dispose();
  }
  return { found, kinds };
}

const temperature = 0.7;

/** A fresh adapter's B is 0, behind which A has no gradient. */
function dense(adapter: Adapter): Adapter {
  for (const factor of adapter.factors.values()) {
    factor.forEach((_, i) => (factor[i] = Math.sin(i + factor.length) / 8));
  }
  return adapter;
}

const coefficientsOf = ({ targets }: MicroBatch): FoundTargets => ({
  scores: Float32Array.from({ length: 2 * targets.length }, (_, i) => ((7 * i) % 5) - 2),
  stateValues: Float32Array.from(targets, (_, i) => ((3 * i) % 4) - 1),
});
