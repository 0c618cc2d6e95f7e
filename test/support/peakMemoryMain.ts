import { initializeParameters, type LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import { packingLimits } from '../../src/trainer/model/learnerLimits.js';
import { LearnerSession } from '../../src/trainer/model/learnerSession.js';
import { planBatches } from '../../src/trainer/model/packing.js';
import { PrefixMemory } from '../../src/trainer/model/prefixMemory.js';

/** Deep and narrow: what is kept of a token is much, and what is computed of it little. */
const config: LlamaConfig = {
  vocabularySize: 64,
  hiddenSize: 32,
  intermediateSize: 128,
  layers: 24,
  heads: 2,
  keyValueHeads: 2,
  headDim: 16,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 1024,
};

/**
 * As a program: whole|recomputed. Differentiates a sequence of 1,024 tokens after one of 16 has compiled the graph, and writes by how
 * many bytes the process's peak rose.
 */
async function main(mode: string): Promise<void> {
  if (mode !== 'whole' && mode !== 'recomputed') throw new Error('usage: whole|recomputed');
  const model = { config, parameters: initializeParameters(config, 1), adapter: null };
  const session = new LearnerSession(model, { device: 'cpu', threads: 1, resident: null });
  const memory = new PrefixMemory(config.layers, config.keyValueHeads * config.headDim, 0);
  const differentiate = async (length: number): Promise<void> => {
    const tokenIds = Int32Array.from({ length }, (_, place) => (place * 37 + 11) % config.vocabularySize);
    const actionMask = Uint8Array.from({ length }, (_, place) => Number(place === length - 1));
    const [{ batch }] = planBatches([{ tokenIds, actionMask }], packingLimits({ config, device: 'cpu' }));
    const wanted = { scores: Float32Array.of(1, 0), stateValues: new Float32Array(1) };
    const recomputed = mode === 'recomputed';
    await session.differentiate({ ...batch, recomputed }, 1, memory, wanted, false, () => undefined);
  };
  await differentiate(16);
  const before = process.resourceUsage().maxRSS;
  await differentiate(1024);
  process.stdout.write(String((process.resourceUsage().maxRSS - before) * 1024));
  await session.dispose();
}

void main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
