import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { adamWStep, freshAdamWState, globalNorm, type AdamWState } from './adamw.js';
import { LearnerSession, type LearnerDevice } from './learnerSession.js';
import { elementCount, parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { factorShapes, type Adapter } from './lora.js';
import { packSequences, type MicroBatch, type PackingLimits } from './packing.js';
import type { AdamWOptions, Learner, SequenceCoefficients, SequenceScores, TrainingSequence } from './policy.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors.js';

/** How what is trained, and what belongs to it (config.json, tokenizer), is kept in a folder; float32, unchanged. */
export interface WeightFiles {
  write(folder: string, parameters: ReadonlyMap<string, Float32Array>): Promise<void>;
  read(folder: string): Promise<ReadonlyMap<string, Float32Array>>;
}

export interface LearnerOptions {
  readonly config: LlamaConfig;
  /** By Hugging Face's names. Without an adapter the learner owns them from here on and changes them in place. */
  readonly parameters: Map<string, Float32Array>;
  /** Trained instead of the parameters, which then stay as they are and may be shared; its factors change in place. */
  readonly adapter?: Adapter;
  readonly device: LearnerDevice;
  readonly files: WeightFiles;
  /** CPU threads; the gradients' last bits depend on their number. */
  readonly threads?: number;
  /** Fixes the number of threads, whatever the machine has. */
  readonly deterministic?: boolean;
  /** Tokens of one micro-batch. */
  readonly microBatchTokens?: number;
}

/** A learner whose trained parameters (an adapter's factors, where it has one) can be read: current after every `step` and `load`. */
export interface LlamaLearner extends Learner {
  readonly parameters: ReadonlyMap<string, Float32Array>;
  /** What `accumulate` added up since the last step, by parameter. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

const optimizerFile = 'optimizer.safetensors';
const deterministicThreads = 2;
/** On the CPU smaller tensors stay in the caches: 2,048 tokens cost 12 % less than 4,096. A GPU wants large ones. */
const mostMicroBatchTokens = { cpu: 2048, webgpu: 4096 } as const;
/** Bytes of what a micro-batch keeps for its backward pass. */
const activationBudget = 2 ** 30;
/** Logits of one micro-batch, in numbers: a few tensors of this size live at once. */
const logitBudget = 2 ** 25;

/** Throws `bad-input` where the parameters do not fit the configuration. */
export async function createLearner(options: LearnerOptions): Promise<LlamaLearner> {
  checkParameters(parameterShapes(options.config), options.parameters);
  return new LlamaLearnerOnOnnx(options);
}

class LlamaLearnerOnOnnx implements LlamaLearner {
  readonly parameters: ReadonlyMap<string, Float32Array>;
  private readonly session: LearnerSession;
  private readonly limits: PackingLimits;
  readonly gradients: Map<string, Float32Array>;
  private readonly shapes: Map<string, number[]>;
  private optimizer: AdamWState;

  constructor(private readonly options: LearnerOptions) {
    const { config, parameters, adapter = null, device, deterministic = false } = options;
    this.parameters = adapter?.factors ?? parameters;
    this.shapes = adapter ? factorShapes(config, adapter.config) : parameterShapes(config);
    const threads = options.threads ?? (deterministic ? deterministicThreads : availableParallelism());
    this.session = new LearnerSession({ config, parameters, adapter }, { device, threads });
    this.limits = {
      tokens: options.microBatchTokens ?? microBatchTokens(config, device),
      targets: Math.max(64, Math.floor(logitBudget / config.vocabularySize)),
      multiple: 64,
      maxPositions: config.maxPositions,
      vocabularySize: config.vocabularySize,
    };
    this.gradients = new Map([...this.parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
    this.optimizer = freshAdamWState(this.parameters);
  }

  async score(sequences: readonly TrainingSequence[], temperature: number): Promise<SequenceScores[]> {
    const scores = emptyScores(sequences);
    for (const batch of packSequences(sequences, this.limits)) {
      spreadScores(batch, await this.session.score(batch, temperature), scores);
    }
    return scores;
  }

  async accumulate(
    sequences: readonly TrainingSequence[],
    coefficients: readonly SequenceCoefficients[],
    temperature: number,
  ): Promise<SequenceScores[]> {
    const scores = emptyScores(sequences);
    for (const batch of packSequences(sequences, this.limits)) {
      const wanted = gatherCoefficients(batch, coefficients);
      const found = await this.session.differentiate(batch, temperature, wanted, (name, gradient) =>
        addTo(this.gradients.get(name)!, gradient),
      );
      spreadScores(batch, found, scores);
    }
    return scores;
  }

  async step(options: AdamWOptions): Promise<{ gradientNorm: number; skipped: boolean }> {
    const gradientNorm = globalNorm(this.gradients);
    const skipped = !Number.isFinite(gradientNorm);
    if (!skipped) {
      const decays = (name: string) => this.shapes.get(name)!.length > 1;
      adamWStep(this.parameters, this.gradients, this.optimizer, options, gradientNorm, decays);
    }
    for (const gradient of this.gradients.values()) gradient.fill(0);
    return { gradientNorm, skipped };
  }

  async save(folder: string, options: { optimizer: boolean }): Promise<void> {
    await this.options.files.write(folder, this.parameters);
    if (!options.optimizer) return;
    const tensors = new Map<string, { shape: number[]; data: Float32Array }>();
    for (const [name, shape] of this.shapes) {
      tensors.set(firstMoment(name), { shape, data: this.optimizer.firstMoments.get(name)! });
      tensors.set(secondMoment(name), { shape, data: this.optimizer.secondMoments.get(name)! });
    }
    await writeSafetensors(join(folder, optimizerFile), tensors, { metadata: { step: String(this.optimizer.step) } });
  }

  async load(folder: string, options: { optimizer: boolean }): Promise<void> {
    const parameters = await this.options.files.read(folder);
    checkParameters(this.shapes, parameters);
    const optimizer = options.optimizer ? await this.readOptimizer(folder) : freshAdamWState(this.parameters);
    for (const [name, values] of this.parameters) values.set(parameters.get(name)!);
    for (const gradient of this.gradients.values()) gradient.fill(0);
    this.optimizer = optimizer;
  }

  async dispose(): Promise<void> {
    await this.session.dispose();
  }

  private async readOptimizer(folder: string): Promise<AdamWState> {
    const path = join(folder, optimizerFile);
    const step = Number((await readSafetensorsHeader(path)).metadata['step'] ?? NaN);
    const stored = await readSafetensors(path);
    const moments = (key: (name: string) => string) =>
      new Map(
        [...this.parameters].map(([name, values]) => {
          const data = stored.get(key(name))?.data;
          if (data?.length !== values.length) throw wrongOptimizer(path, `"${key(name)}" does not fit the model`);
          return [name, data];
        }),
      );
    if (!Number.isInteger(step) || step < 0) throw wrongOptimizer(path, 'it names no step');
    return { firstMoments: moments(firstMoment), secondMoments: moments(secondMoment), step };
  }
}

/** As many tokens as the activations' budget holds, counted for rows of 512: about a dozen states of a layer are kept. */
function microBatchTokens(config: LlamaConfig, device: LearnerDevice): number {
  const { layers, hiddenSize, intermediateSize, heads } = config;
  const bytes = 4 * layers * (14 * hiddenSize + 5 * intermediateSize + 512 * heads);
  return Math.max(64, Math.min(mostMicroBatchTokens[device], Math.floor(activationBudget / bytes)));
}

const firstMoment = (name: string) => `first_moment.${name}`;
const secondMoment = (name: string) => `second_moment.${name}`;

const wrongOptimizer = (path: string, reason: string) =>
  badInput(`Cannot continue with the optimizer in '${path}': ${reason}.`, 'Resume from another checkpoint.');

function checkParameters(shapes: ReadonlyMap<string, number[]>, parameters: ReadonlyMap<string, Float32Array>): void {
  for (const [name, shape] of shapes) {
    const found = parameters.get(name)?.length;
    if (found === elementCount(shape)) continue;
    throw badInput(
      `The model's parameter "${name}" has ${found ?? 'no'} values where its config asks for [${shape.join(', ')}].`,
      'Use weights that belong to the config.json beside them.',
    );
  }
  for (const name of parameters.keys()) {
    if (!shapes.has(name)) {
      throw badInput(
        `The model has no place for a parameter "${name}".`,
        'Use weights that belong to the config.json.',
      );
    }
  }
}

function emptyScores(sequences: readonly TrainingSequence[]): SequenceScores[] {
  return sequences.map(({ tokenIds }) => ({
    logprobs: new Float32Array(tokenIds.length).fill(NaN),
    entropies: new Float32Array(tokenIds.length).fill(NaN),
  }));
}

function spreadScores(batch: MicroBatch, found: Float32Array, scores: readonly SequenceScores[]): void {
  for (let target = 0; target < batch.targets.length; target++) {
    const { logprobs, entropies } = scores[batch.sequences[target]];
    logprobs[batch.places[target]] = found[2 * target];
    entropies[batch.places[target]] = found[2 * target + 1];
  }
}

/** [targets, 2] */
function gatherCoefficients(batch: MicroBatch, coefficients: readonly SequenceCoefficients[]): Float32Array {
  const gathered = new Float32Array(2 * batch.targets.length);
  for (let target = 0; target < batch.targets.length; target++) {
    const { logprobs, entropies } = coefficients[batch.sequences[target]];
    const place = batch.places[target];
    gathered[2 * target] = logprobs[place];
    gathered[2 * target + 1] = entropies ? entropies[place] : 0;
  }
  return gathered;
}

function addTo(sum: Float32Array, part: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] += part[i];
}
