/**
 * Speed of the learner, and agreement of devices: node scripts/bench/run.mjs [--length N] [--sequences N] [--threads N] … [DEVICE…]
 *
 * A step is one `accumulate` over the sequences, a third of whose tokens are the policy's own, and one AdamW step.
 * GFLOP/s count the useful work: 6 operations per weight and token, attention below the diagonal only. With several
 * devices the gradients of each are compared with the first's; a relative difference above 1e-3 is a failure.
 */
import { parseArgs } from 'node:util';
import { createLearner, type LlamaLearner } from '../../src/trainer/model/learner.js';
import { initializeParameters, normalStream, type LlamaConfig } from '../../src/trainer/model/llamaConfig.js';
import type { AdamWOptions, TrainingSequence } from '../../src/trainer/model/policy.js';

const config: LlamaConfig = {
  vocabularySize: 2048,
  hiddenSize: 256,
  intermediateSize: 704,
  layers: 4,
  heads: 4,
  keyValueHeads: 4,
  headDim: 64,
  ropeTheta: 10_000,
  rmsEpsilon: 1e-5,
  tieEmbeddings: true,
  maxPositions: 4096,
};
const optimizer: AdamWOptions = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0.1,
  maxGradientNorm: 1,
};
const tolerance = 1e-3;
const unused = () => Promise.reject(new Error('The benchmark keeps no files.'));

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      length: { type: 'string', default: '512' },
      sequences: { type: 'string', default: '8' },
      steps: { type: 'string', default: '5' },
      threads: { type: 'string' },
      microBatchTokens: { type: 'string' },
    },
  });
  const counts = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, countOf(name, text)]));
  const devices = (positionals.length > 0 ? positionals : ['cpu']).map(deviceOf);
  const sequences = randomSequences(counts.sequences, counts.length);
  let reference: ReadonlyMap<string, Float32Array> | null = null;
  for (const device of devices) {
    const parameters = initializeParameters(config, 1);
    const files = { write: unused, read: unused };
    const { threads, microBatchTokens } = counts as { threads?: number; microBatchTokens?: number };
    const learner = await createLearner({ config, parameters, device, files, threads, microBatchTokens });
    const gradients = await firstGradients(learner, sequences);
    await measure(device, learner, sequences, counts.steps);
    if (reference) compare(device, gradients, reference);
    reference ??= gradients;
    await learner.dispose();
  }
}

function countOf(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} ${text}: give a whole number of at least 1.`);
  return Number(text);
}

function deviceOf(name: string): 'cpu' | 'webgpu' {
  if (name !== 'cpu' && name !== 'webgpu') throw new Error(`"${name}" is no device: name cpu or webgpu.`);
  return name;
}

async function firstGradients(
  learner: LlamaLearner,
  sequences: readonly TrainingSequence[],
): Promise<Map<string, Float32Array>> {
  await learner.accumulate(sequences, coefficientsOf(sequences), 1);
  return new Map([...learner.gradients].map(([name, values]) => [name, values.slice()]));
}

async function measure(
  device: string,
  learner: LlamaLearner,
  sequences: readonly TrainingSequence[],
  steps: number,
): Promise<void> {
  const coefficients = coefficientsOf(sequences);
  const times: number[] = [];
  const processorTimes: number[] = [];
  const scoreTimes: number[] = [];
  for (let step = 0; step < steps; step++) {
    const start = performance.now();
    const processorStart = process.cpuUsage();
    await learner.accumulate(sequences, coefficients, 1);
    await learner.step(optimizer);
    times.push((performance.now() - start) / 1000);
    const { user, system } = process.cpuUsage(processorStart);
    processorTimes.push((user + system) / 1e6);
    const middle = performance.now();
    await learner.score(sequences, 1);
    scoreTimes.push((performance.now() - middle) / 1000);
  }
  const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  const tokens = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const seconds = median(times);
  const memory = process.memoryUsage().rss / 2 ** 20;
  console.log(
    `${device}: ${tokens} tokens, step ${(seconds * 1000).toFixed(0)} ms (best ${(times[0] * 1000).toFixed(0)}, processor ` +
      `${(median(processorTimes) * 1000).toFixed(0)}), ` +
      `${(tokens / seconds).toFixed(0)} tokens/s, ${(operations(sequences) / seconds / 1e9).toFixed(0)} GFLOP/s; ` +
      `score ${(tokens / median(scoreTimes)).toFixed(0)} tokens/s; ${memory.toFixed(0)} MiB`,
  );
}

function compare(
  device: string,
  found: ReadonlyMap<string, Float32Array>,
  reference: ReadonlyMap<string, Float32Array>,
): void {
  let worst = 0;
  for (const [name, wanted] of reference) {
    let scale = 1e-12;
    let difference = 0;
    const values = found.get(name)!;
    for (let i = 0; i < wanted.length; i++) {
      scale = Math.max(scale, Math.abs(wanted[i]));
      difference = Math.max(difference, Number.isFinite(values[i]) ? Math.abs(values[i] - wanted[i]) : Infinity);
    }
    worst = Math.max(worst, difference / scale);
  }
  const verdict = worst < tolerance ? 'agree' : 'DIFFER';
  console.log(`${device}: gradients ${verdict} with the first device's, relative difference ${worst.toExponential(1)}`);
  if (worst >= tolerance) process.exitCode = 1;
}

function randomSequences(count: number, length: number): TrainingSequence[] {
  const normal = normalStream(7);
  return Array.from({ length: count }, () => ({
    tokenIds: Int32Array.from({ length }, () => Math.floor(Math.abs(normal()) * 400) % config.vocabularySize),
    actionMask: Uint8Array.from({ length }, (_, place) => Number(place === length - 1 || place % 3 === 1)),
  }));
}

function coefficientsOf(sequences: readonly TrainingSequence[]) {
  return sequences.map(({ actionMask }) => ({
    logprobs: Float32Array.from(actionMask, (asked, place) => (asked * ((place % 5) - 2.5)) / 1000),
    entropies: null,
  }));
}

function operations(sequences: readonly TrainingSequence[]): number {
  const attentionWidth = config.heads * config.headDim;
  const keyWidth = config.keyValueHeads * config.headDim;
  const layer =
    config.hiddenSize * (2 * attentionWidth + 2 * keyWidth) + 3 * config.hiddenSize * config.intermediateSize;
  return sequences.reduce((sum, { tokenIds: { length }, actionMask }) => {
    const targets = actionMask.reduce((total, asked) => total + asked, 0);
    const weights = 6 * (layer * config.layers * length + config.hiddenSize * config.vocabularySize * targets);
    return sum + weights + (12 * config.layers * attentionWidth * length * length) / 2;
  }, 0);
}

main().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
});
