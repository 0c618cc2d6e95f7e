import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { adamWStep, freshAdamWState, globalNorm, type AdamWState } from './adamw.js';
import { packingLimits, type LearnerLimits } from './learnerLimits.js';
import { LearnerSession, type FoundTargets } from './learnerSession.js';
import { elementCount, parameterShapes } from './llamaConfig.js';
import { factorShapes, type Adapter } from './lora.js';
import { longestTrunk, planBatches, type MicroBatch, type PackingLimits, type PlannedBatch } from './packing.js';
import type { AdamWOptions, Learner, SequenceCoefficients, SequenceScores, TrainingSequence } from './policy.js';
import { PrefixMemory } from './prefixMemory.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors.js';
import { loadValueHead, saveValueHead, valueHeadShapes, type ValueHead } from './valueHead.js';

/** How what is trained, and what belongs to it (config.json, tokenizer), is kept in a folder; float32, unchanged. */
export interface WeightFiles {
  write(folder: string, parameters: ReadonlyMap<string, Float32Array>): Promise<void>;
  read(folder: string): Promise<ReadonlyMap<string, Float32Array>>;
}

export interface LearnerOptions extends LearnerLimits {
  /** By Hugging Face's names. Without an adapter the learner owns them from here on and changes them in place. */
  readonly parameters: Map<string, Float32Array>;
  /** Trained instead of the parameters, which then stay as they are and may be shared; its factors change in place. */
  readonly adapter?: Adapter;
  /** A critic that is trained beside the policy; changes in place. */
  readonly valueHead?: ValueHead;
  readonly files: WeightFiles;
  /** CPU threads; the gradients' last bits depend on their number. */
  readonly threads?: number;
  /** Fixes the number of threads, whatever the machine has. */
  readonly deterministic?: boolean;
}

/**
 * A learner whose trained parameters (an adapter's factors, where it has one, and a critic's) can be read: current after every
 * `step` and `load`.
 */
export interface LlamaLearner extends Learner {
  readonly parameters: ReadonlyMap<string, Float32Array>;
  /** What `accumulate` added up since the last step, by parameter. */
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

const optimizerFile = 'optimizer.safetensors';
const deterministicThreads = 2;

/** Throws `bad-input` where the parameters do not fit the configuration. */
export async function createLearner(options: LearnerOptions): Promise<LlamaLearner> {
  checkParameters(parameterShapes(options.config), options.parameters);
  return new LlamaLearnerOnOnnx(options);
}

class LlamaLearnerOnOnnx implements LlamaLearner {
  readonly parameters: ReadonlyMap<string, Float32Array>;
  /** Those of `parameters` that are no critic's. */
  private readonly policyParameters: ReadonlyMap<string, Float32Array>;
  private readonly session: LearnerSession;
  private readonly limits: PackingLimits;
  readonly gradients: Map<string, Float32Array>;
  /** Those of `gradients` that nothing was added to since the last step. */
  private readonly zeroGradients: Set<string>;
  private readonly shapes: Map<string, number[]>;
  private optimizer: AdamWState;

  constructor(private readonly options: LearnerOptions) {
    const { config, parameters, adapter = null, valueHead, device, deterministic = false } = options;
    this.policyParameters = adapter?.factors ?? parameters;
    this.parameters = new Map([...this.policyParameters, ...(valueHead ?? [])]);
    this.shapes = new Map([
      ...(adapter ? factorShapes(config, adapter.config) : parameterShapes(config)),
      ...(valueHead ? valueHeadShapes(config) : []),
    ]);
    const threads = options.threads ?? (deterministic ? deterministicThreads : availableParallelism());
    this.session = new LearnerSession({ config, parameters, adapter, valueHead }, { device, threads });
    this.limits = packingLimits(options);
    this.gradients = new Map([...this.parameters].map(([name, values]) => [name, new Float32Array(values.length)]));
    this.zeroGradients = new Set(this.gradients.keys());
    this.optimizer = freshAdamWState(this.parameters);
  }

  async score(sequences: readonly TrainingSequence[], temperature: number): Promise<SequenceScores[]> {
    const scores = this.emptyScores(sequences);
    const plan = planBatches(sequences, this.limits);
    const memory = this.memoryFor(plan);
    const visit = async ({ batch, children }: PlannedBatch): Promise<void> => {
      const wanted = { scores: batch.targets.length > 0, memory: children.length > 0 };
      const found = await this.session.forward(batch, temperature, memory, wanted);
      spreadScores(batch, found.found, scores);
      if (children.length === 0) return;
      memory.push(batch.filled, found.memory);
      for (const child of children) await visit(child);
      memory.pop(batch.filled);
    };
    for (const planned of plan) await visit(planned);
    return scores;
  }

  async accumulate(
    sequences: readonly TrainingSequence[],
    coefficients: readonly SequenceCoefficients[],
    temperature: number,
  ): Promise<SequenceScores[]> {
    const scores = this.emptyScores(sequences);
    const plan = planBatches(sequences, this.limits);
    const memory = this.memoryFor(plan);
    const receive = (name: string, gradient: Float32Array) => this.addGradient(name, gradient);
    /** Forwards for the keys and values that others need, then those others, then backwards with what they left. */
    const visit = async ({ batch, children }: PlannedBatch): Promise<void> => {
      const isFollowed = children.length > 0;
      if (isFollowed) {
        const found = await this.session.forward(batch, temperature, memory, { scores: false, memory: true });
        memory.push(batch.filled, found.memory);
        for (const child of children) await visit(child);
        memory.pop(batch.filled);
      }
      const wanted = gatherCoefficients(batch, coefficients);
      spreadScores(
        batch,
        await this.session.differentiate(batch, temperature, memory, wanted, isFollowed, receive),
        scores,
      );
      if (isFollowed) memory.forget();
    };
    for (const planned of plan) await visit(planned);
    return scores;
  }

  async step(options: AdamWOptions): Promise<{ gradientNorm: number; skipped: boolean }> {
    const gradientNorm = globalNorm(this.gradients);
    const skipped = !Number.isFinite(gradientNorm);
    if (!skipped) {
      const decays = (name: string) => this.shapes.get(name)!.length > 1;
      const { learningRate, valueLearningRate = learningRate } = options;
      const rateOf = (name: string) => (this.options.valueHead?.has(name) ? valueLearningRate : learningRate);
      adamWStep(this.parameters, this.gradients, this.optimizer, options, gradientNorm, decays, rateOf);
    }
    this.clearGradients();
    return { gradientNorm, skipped };
  }

  async save(folder: string, options: { optimizer: boolean }): Promise<void> {
    const { config, files, valueHead } = this.options;
    await files.write(folder, this.policyParameters);
    if (valueHead) await saveValueHead(folder, config, valueHead);
    if (!options.optimizer) return;
    const tensors = new Map<string, { shape: number[]; data: Float32Array }>();
    for (const [name, shape] of this.shapes) {
      tensors.set(firstMoment(name), { shape, data: this.optimizer.firstMoments.get(name)! });
      tensors.set(secondMoment(name), { shape, data: this.optimizer.secondMoments.get(name)! });
    }
    await writeSafetensors(join(folder, optimizerFile), tensors, { metadata: { step: String(this.optimizer.step) } });
  }

  async load(folder: string, options: { optimizer: boolean }): Promise<void> {
    const { files, valueHead } = this.options;
    const critic = valueHead ? await loadValueHead(folder) : [];
    const parameters = new Map([...(await files.read(folder)), ...critic]);
    checkParameters(this.shapes, parameters);
    const optimizer = options.optimizer ? await this.readOptimizer(folder) : freshAdamWState(this.parameters);
    for (const [name, values] of this.parameters) values.set(parameters.get(name)!);
    this.clearGradients();
    this.optimizer = optimizer;
  }

  async dispose(): Promise<void> {
    await this.session.dispose();
  }

  private emptyScores(sequences: readonly TrainingSequence[]): SequenceScores[] {
    return sequences.map(({ tokenIds }) => {
      const unknown = () => new Float32Array(tokenIds.length).fill(NaN);
      const scores = { logprobs: unknown(), entropies: unknown() };
      return this.options.valueHead ? { ...scores, stateValues: unknown() } : scores;
    });
  }

  private addGradient(name: string, gradient: Float32Array): void {
    const sum = this.gradients.get(name)!;
    // The first is copied, which is several times as fast.
    if (this.zeroGradients.delete(name)) sum.set(gradient);
    else for (let i = 0; i < sum.length; i++) sum[i] += gradient[i];
  }

  private clearGradients(): void {
    for (const [name, gradient] of this.gradients) {
      gradient.fill(0);
      this.zeroGradients.add(name);
    }
  }

  private memoryFor(plan: readonly PlannedBatch[]): PrefixMemory {
    const { layers, keyValueHeads, headDim } = this.options.config;
    return new PrefixMemory(layers, keyValueHeads * headDim, longestTrunk(plan));
  }

  private async readOptimizer(folder: string): Promise<AdamWState> {
    const path = join(folder, optimizerFile);
    const step = Number((await readSafetensorsHeader(path)).metadata['step'] ?? NaN);
    const stored = await readSafetensors(path);
    const moments = (key: (name: string) => string) =>
      new Map(
        [...this.parameters].map(([name, values]) => {
          const data = stored.get(key(name))?.data;
          if (data?.length !== values.length) throw wrongOptimizer(path, say`"${key(name)}" does not fit the model`);
          return [name, data];
        }),
      );
    if (!Number.isInteger(step) || step < 0) throw wrongOptimizer(path, say`it names no step`);
    return { firstMoments: moments(firstMoment), secondMoments: moments(secondMoment), step };
  }
}

const firstMoment = (name: string) => `first_moment.${name}`;
const secondMoment = (name: string) => `second_moment.${name}`;

const wrongOptimizer = (path: string, reason: Said) =>
  badInput(say`Cannot continue with the optimizer in '${path}': ${reason}.`, 'Resume from another checkpoint.');

function checkParameters(shapes: ReadonlyMap<string, number[]>, parameters: ReadonlyMap<string, Float32Array>): void {
  for (const [name, shape] of shapes) {
    const found = parameters.get(name)?.length;
    if (found === elementCount(shape)) continue;
    const wanted = shape.join(', ');
    throw badInput(
      found === undefined
        ? say`The model's parameter "${name}" has no values where its config asks for [${wanted}].`
        : say`The model's parameter "${name}" has ${found} values where its config asks for [${wanted}].`,
      'Use weights that belong to the config.json beside them.',
    );
  }
  for (const name of parameters.keys()) {
    if (!shapes.has(name)) {
      throw badInput(
        say`The model has no place for a parameter "${name}".`,
        'Use weights that belong to the config.json.',
      );
    }
  }
}

function spreadScores(batch: MicroBatch, found: FoundTargets, scores: readonly SequenceScores[]): void {
  for (const { target, sequence, place } of batch.askers) {
    const { logprobs, entropies, stateValues } = scores[sequence];
    logprobs[place] = found.scores[2 * target];
    entropies[place] = found.scores[2 * target + 1];
    if (stateValues) stateValues[place] = found.stateValues[target];
  }
}

/** Where several sequences ask for one target, their sum. */
function gatherCoefficients(batch: MicroBatch, coefficients: readonly SequenceCoefficients[]): FoundTargets {
  const scores = new Float32Array(2 * batch.targets.length);
  const ofStates = new Float32Array(batch.targets.length);
  for (const { target, sequence, place } of batch.askers) {
    const { logprobs, entropies, stateValues } = coefficients[sequence];
    scores[2 * target] += logprobs[place];
    scores[2 * target + 1] += entropies ? entropies[place] : 0;
    ofStates[target] += stateValues ? stateValues[place] : 0;
  }
  return { scores, stateValues: ofStates };
}
