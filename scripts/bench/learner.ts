/**
 * Speed of the learner beside the machine's own MatMul and beside PyTorch, and agreement of devices:
 *   node scripts/bench/run.mjs learner [--model small|30m|qwen0.5b] [--length N] [--sequences N] [--shared N] [--lora R]
 *     [--steps N] [--threads N] [--microBatchTokens N] [--activationMemory MIB] [--every N] [--python PATH] [--trl PATH]
 *     [DEVICE[/float16]…]
 *
 * A step is one `accumulate` over the sequences, and one AdamW step; of the tokens behind the first `shared` ones, which all
 * sequences have in common, one in three (in N with `--every`) is the policy's own. Floating-point operations count the useful work as if nothing was
 * shared: 6 a weight and token (4 where only an adapter is trained), attention below the diagonal only. The peak is that of a
 * lone product of two large matrices by the same runtime and threads, measured between the steps. Each speed is given by the
 * clock and by the processor's time, which other programs on the machine disturb less. With several devices the gradients of
 * each are compared with the first's; a relative difference above 1e-3 (5e-2 in float16, which takes `--lora`) is a failure.
 * `--python` names a Python with torch,
 * which then takes the same step (learner_torch.py); `--trl` one with TRL, whose GRPOTrainer takes it (learner_trl.py; of a
 * group's rollouts all tokens behind the prompt are the policy's own there, so give `--every 1`).
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { learningOperations } from '../../src/trainer/estimate/operations.js';
import { providers, type Provider } from '../../src/trainer/graph/provider.js';
import { keepsTensors } from '../../src/trainer/model/deviceTensors.js';
import { narrowParameters } from '../../src/trainer/model/frozenParameters.js';
import { createLearner, type LlamaLearner } from '../../src/trainer/model/learner.js';
import {
  elementCount,
  initializeParameters,
  normalStream,
  parameterShapes,
  type LlamaConfig,
} from '../../src/trainer/model/llamaConfig.js';
import { freshAdapter, projections, type Adapter } from '../../src/trainer/model/lora.js';
import type { Precision } from '../../src/trainer/model/precision.js';
import type { AdamWOptions, TrainingSequence } from '../../src/trainer/model/policy.js';
import { uploadParameters } from '../../src/trainer/model/residentParameters.js';
import { models } from './models.js';
import { Peak } from './peak.js';

const optimizer: AdamWOptions = {
  learningRate: 1e-4,
  beta1: 0.9,
  beta2: 0.95,
  epsilon: 1e-8,
  weightDecay: 0.1,
  maxGradientNorm: 1,
};
const tolerances: Readonly<Record<Precision, number>> = { float32: 1e-3, float16: 5e-2 };
const unused = () => Promise.reject(new Error('The benchmark keeps no files.'));

interface Sizes {
  readonly length: number;
  readonly sequences: number;
  readonly steps: number;
  readonly shared: number;
  readonly lora: number;
  readonly threads: number;
  readonly every: number;
  readonly microBatchTokens?: number;
  readonly activationMemory: number;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      model: { type: 'string', default: 'small' },
      length: { type: 'string', default: '512' },
      sequences: { type: 'string', default: '8' },
      steps: { type: 'string', default: '3' },
      shared: { type: 'string', default: '0' },
      lora: { type: 'string', default: '0' },
      threads: { type: 'string', default: String(availableParallelism()) },
      every: { type: 'string', default: '3' },
      microBatchTokens: { type: 'string' },
      activationMemory: { type: 'string', default: '1024' },
      python: { type: 'string' },
      trl: { type: 'string' },
    },
  });
  const { model, python, trl, ...texts } = values;
  const sizes = Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, countOf(name, text)]),
  ) as unknown as Sizes;
  const config = models[model];
  if (!config) throw new Error(`"${model}" is no model: name ${Object.keys(models).join(' or ')}.`);
  const places = (positionals.length > 0 ? positionals : ['cpu']).map(placeOf);
  if (sizes.lora === 0 && places.some(({ precision }) => precision === 'float16')) {
    throw new Error('In float16 only an adapter is trained: give --lora.');
  }
  const sequences = randomSequences(config, sizes);
  const weights = [...parameterShapes(config).values()].reduce((sum, shape) => sum + elementCount(shape), 0);
  console.log(
    `${model}: ${(weights / 1e6).toFixed(1)}M parameters, ${sizes.sequences} sequences of ${sizes.length} tokens`,
  );
  let reference: ReadonlyMap<string, Float32Array> | null = null;
  for (const { device, precision } of places) {
    const full = initializeParameters(config, 1);
    const kept = precision === 'float16' ? narrowParameters(config, full) : full;
    // As a training does: what it does not change stays on the device.
    const resident = sizes.lora > 0 && keepsTensors(device) ? await uploadParameters(config, kept, device) : null;
    const parameters = resident?.parameters ?? kept;
    const files = { write: unused, read: unused };
    const { threads, microBatchTokens, activationMemory } = sizes;
    const adapter = sizes.lora > 0 ? randomAdapter(config, sizes.lora) : null;
    const learner = await createLearner({
      config,
      parameters,
      ...(adapter && { adapter }),
      device,
      files,
      threads,
      microBatchTokens,
      activationBytes: activationMemory * 2 ** 20,
    });
    const gradients = await firstGradients(learner, sequences);
    await measure({ device, precision }, config, learner, sequences, sizes);
    if (reference) compare({ device, precision }, gradients, reference);
    reference ??= gradients;
    await learner.dispose();
    await resident?.dispose();
  }
  if (python !== undefined) runPython(python, 'learner_torch.py', config, sizes);
  if (trl !== undefined) runPython(trl, 'learner_trl.py', config, sizes);
}

function countOf(name: string, text: string): number {
  const least = name === 'shared' || name === 'lora' ? 0 : 1;
  if (!/^\d{1,9}$/.test(text) || Number(text) < least) {
    throw new Error(`--${name} ${text}: give a whole number of at least ${least}.`);
  }
  return Number(text);
}

interface Place {
  readonly device: Provider;
  readonly precision: Precision;
}

function placeOf(text: string): Place {
  const [name, half] = text.split('/');
  const device = providers.find((provider) => provider === name);
  if (device === undefined || (half !== undefined && half !== 'float16')) {
    throw new Error(
      `"${text}" is no device: name one of ${providers.join(', ')}, with /float16 behind it if so wanted.`,
    );
  }
  return { device, precision: half ?? 'float32' };
}

const nameOf = ({ device, precision }: Place) => (precision === 'float16' ? `${device} in float16` : device);

/** Fresh ones have factors of 0, whose partners then have no gradient to compare. */
function randomAdapter(config: LlamaConfig, rank: number): Adapter {
  const adapter = freshAdapter(config, { rank, alpha: 32, targets: projections }, 1);
  const normal = normalStream(3);
  for (const [name, factor] of adapter.factors)
    if (name.endsWith('.lora_B.weight')) for (let i = 0; i < factor.length; i++) factor[i] = normal() / 100;
  return adapter;
}

async function firstGradients(
  learner: LlamaLearner,
  sequences: readonly TrainingSequence[],
): Promise<Map<string, Float32Array>> {
  await learner.accumulate(sequences, coefficientsOf(sequences), 1);
  return new Map([...learner.gradients].map(([name, values]) => [name, values.slice()]));
}

/** Seconds by the clock and of the processor. */
async function timed(work: () => Promise<unknown>): Promise<{ clock: number; processor: number }> {
  const start = performance.now();
  const processorStart = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(processorStart);
  return { clock: (performance.now() - start) / 1000, processor: (user + system) / 1e6 };
}

const median = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measure(
  place: Place,
  config: LlamaConfig,
  learner: LlamaLearner,
  sequences: readonly TrainingSequence[],
  { steps, lora, threads }: Sizes,
): Promise<void> {
  const coefficients = coefficientsOf(sequences);
  const peak = await Peak.create(place.device, threads);
  const took: { clock: number; processor: number }[] = [];
  const peaks: { clock: number; processor: number }[] = [];
  const scored: { clock: number; processor: number }[] = [];
  for (let step = 0; step < steps; step++) {
    peaks.push(await timed(() => peak.run()));
    took.push(
      await timed(async () => {
        await learner.accumulate(sequences, coefficients, 1);
        await learner.step(optimizer);
      }),
    );
    scored.push(await timed(() => learner.score(sequences, 1)));
  }
  await peak.dispose();
  const tokens = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const work = sequences.reduce((sum, { tokenIds, actionMask }) => {
    const length = { tokens: tokenIds.length, sampled: actionMask.reduce((total, asked) => total + asked, 0) };
    return sum + learningOperations(config, length, lora > 0);
  }, 0);
  const speed = (by: 'clock' | 'processor') => {
    const own = work / median(took.map((one) => one[by])) / 1e9;
    const most = peak.operations / median(peaks.map((one) => one[by])) / 1e9;
    return `${own.toFixed(0)} of ${most.toFixed(0)} GFLOP/s (${((100 * own) / most).toFixed(0)} %)`;
  };
  const seconds = median(took.map(({ clock }) => clock));
  console.log(
    `${nameOf(place)}, ${threads} threads: step ${(seconds * 1000).toFixed(0)} ms (${(median(took.map(({ processor }) => processor)) * 1000).toFixed(0)} ms of the processor), ${(tokens / seconds).toFixed(0)} tokens/s; ` +
      `by the clock ${speed('clock')}, by the processor's time ${speed('processor')}; ` +
      `score ${(tokens / median(scored.map(({ clock }) => clock))).toFixed(0)} tokens/s; ` +
      `peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`,
  );
}

function compare(
  place: Place,
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
  const tolerance = tolerances[place.precision];
  const verdict = worst < tolerance ? 'agree' : 'DIFFER';
  console.log(
    `${nameOf(place)}: gradients ${verdict} with the first device's, relative difference ${worst.toExponential(1)}`,
  );
  if (worst >= tolerance) process.exitCode = 1;
}

function runPython(python: string, name: string, config: LlamaConfig, sizes: Sizes): void {
  const script = path.join(process.env.BENCH_FOLDER!, name);
  const { status } = spawnSync(python, [script, JSON.stringify({ ...config, ...sizes })], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`'${python} ${script}' failed: give a Python with what it imports.`);
}

function randomSequences(config: LlamaConfig, { sequences, length, shared, every }: Sizes): TrainingSequence[] {
  const normal = normalStream(7);
  const token = () => Math.floor(Math.abs(normal()) * 400) % config.vocabularySize;
  const prompt = Array.from({ length: Math.min(shared, length - 1) }, token);
  return Array.from({ length: sequences }, () => ({
    tokenIds: Int32Array.from({ length }, (_, place) => prompt[place] ?? token()),
    actionMask: Uint8Array.from({ length }, (_, place) =>
      Number(place >= Math.max(1, prompt.length) && (place === length - 1 || place % every === 1 % every)),
    ),
  }));
}

function coefficientsOf(sequences: readonly TrainingSequence[]) {
  return sequences.map(({ actionMask }) => ({
    logprobs: Float32Array.from(actionMask, (asked, place) => (asked * ((place % 5) - 2.5)) / 1000),
    entropies: null,
  }));
}

main().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
});
