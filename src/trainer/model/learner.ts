import { availableParallelism } from 'node:os';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { adamWStep, freshAdamWState, globalNorm, type AdamWState } from './adamw.js';
import { DeviceTensors, keepsTensors } from './deviceTensors.js';
import { firstNotFinite } from './finite.js';
import { countOf, precisionOf, trainable, type FrozenParameters } from './frozenParameters.js';
import { GradientSum } from './gradientSum.js';
import { packingLimits, type LearnerLimits } from './learnerLimits.js';
import { LearnerSession, type FoundTargets } from './learnerSession.js';
import { elementCount, parameterShapes } from './llamaConfig.js';
import { factorShapes, type Adapter } from './lora.js';
import { firstLossScale, halvedLossScale, lossScaleAfter, type LossScale } from './lossScale.js';
import { trainedNames, weightFeeds, type ModelWeights } from './modelWeights.js';
import { loadOptimizer, saveOptimizer } from './optimizerFile.js';
import { longestTrunk, planBatches, type MicroBatch, type PackingLimits, type PlannedBatch } from './packing.js';
import type {
  AdamWOptions,
  Learner,
  SequenceCoefficients,
  SequenceScores,
  StepResult,
  TrainingSequence,
} from './policy.js';
import { PrefixMemory } from './prefixMemory.js';
import { ResidentFeeds } from './residentFeeds.js';
import { loadValueHead, saveValueHead, valueHeadShapes, type ValueHead } from './valueHead.js';

/** How what is trained, and what belongs to it (config.json, tokenizer), is kept in a folder; float32, unchanged. */
export interface WeightFiles {
  write(folder: string, parameters: ReadonlyMap<string, Float32Array>): Promise<void>;
  read(folder: string): Promise<ReadonlyMap<string, Float32Array>>;
}

export interface LearnerOptions extends LearnerLimits {
  /**
   * By Hugging Face's names. Without an adapter the learner owns them from here on and changes them in place, and they must be
   * float32. Where the matrices are float16, the graphs compute as `llamaLayers.ts` says, of a loss that is scaled.
   */
  readonly parameters: FrozenParameters;
  /** Trained instead of the parameters, which then stay as they are and may be shared; its factors change in place. */
  readonly adapter?: Adapter;
  /** A critic that is trained beside the policy; changes in place. */
  readonly valueHead?: ValueHead;
  readonly files: WeightFiles;
  /** That of the first update, where the matrices are float16. */
  readonly lossScale?: LossScale;
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
  /** The weights as they lie on a device that keeps them, for a generator; the learner's own to free. */
  readonly resident: ResidentFeeds | null;
}

const deterministicThreads = 2;

/** Throws `bad-input` where the parameters do not fit the configuration, `infrastructure` where they do not fit the device. */
export async function createLearner(options: LearnerOptions): Promise<LlamaLearner> {
  const { config, parameters, adapter = null, valueHead, device } = options;
  checkParameters(parameterShapes(config), parameters);
  const policyParameters = adapter?.factors ?? trainable(parameters);
  const model: ModelWeights = { config, parameters, adapter, valueHead };
  const resident = keepsTensors(device)
    ? await ResidentFeeds.create(weightFeeds(model), trainedNames(model), new DeviceTensors(device))
    : null;
  return new LlamaLearnerOnOnnx(options, model, policyParameters, resident);
}

class LlamaLearnerOnOnnx implements LlamaLearner {
  readonly parameters: ReadonlyMap<string, Float32Array>;
  private readonly session: LearnerSession;
  private readonly limits: PackingLimits;
  private readonly sum: GradientSum;
  /** Null where everything is float32. */
  private lossScale: LossScale | null;
  private readonly shapes: Map<string, number[]>;
  private optimizer: AdamWState;

  constructor(
    private readonly options: LearnerOptions,
    model: ModelWeights,
    /** What is trained and is no critic's. */
    private readonly policyParameters: ReadonlyMap<string, Float32Array>,
    readonly resident: ResidentFeeds | null,
  ) {
    const { device, deterministic = false } = options;
    const { config, parameters, adapter, valueHead } = model;
    this.lossScale = precisionOf(parameters) === 'float16' ? (options.lossScale ?? firstLossScale) : null;
    this.parameters = new Map([...policyParameters, ...(valueHead ?? [])]);
    this.shapes = new Map([
      ...(adapter ? factorShapes(config, adapter.config) : parameterShapes(config)),
      ...(valueHead ? valueHeadShapes(config) : []),
    ]);
    const threads = options.threads ?? (deterministic ? deterministicThreads : availableParallelism());
    this.session = new LearnerSession(model, { device, threads, resident });
    this.limits = packingLimits({ ...options, precision: precisionOf(parameters) });
    this.sum = new GradientSum(this.parameters);
    this.optimizer = freshAdamWState(this.parameters);
  }

  get gradients(): ReadonlyMap<string, Float32Array> {
    return this.sum.values;
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
    /** Forwards for the keys and values that others need, then those others, then backwards with what they left. */
    const visit = async ({ batch, children }: PlannedBatch, scale: number, into: GradientSum): Promise<boolean> => {
      const isFollowed = children.length > 0;
      let hasFiniteScores = true;
      if (isFollowed) {
        const found = await this.session.forward(batch, temperature, memory, { scores: false, memory: true });
        memory.push(batch.filled, found.memory);
        for (const child of children) if (!(await visit(child, scale, into))) hasFiniteScores = false;
        memory.pop(batch.filled);
      }
      const wanted = gatherCoefficients(batch, coefficients, scale);
      const receive = (name: string, gradient: Float32Array) => into.add(name, gradient);
      const found = await this.session.differentiate(batch, temperature, memory, wanted, isFollowed, receive);
      spreadScores(batch, found, scores);
      if (isFollowed) memory.forget();
      return hasFiniteScores && firstNotFinite(found.scores) === undefined;
    };
    for (const planned of plan) {
      if (this.lossScale === null) await visit(planned, 1, this.sum);
      else this.lossScale = await this.accumulateScaled(this.lossScale, (scale, into) => visit(planned, scale, into));
    }
    return scores;
  }

  /**
   * Adds what `differentiate` adds up at the largest scale, from `first` down, at which it is finite, and says which that was. Where
   * it is at none, or already the scores are not finite, the scale is not to blame: it stays, and the step will be skipped.
   * @param differentiate false where scores are not finite
   */
  private async accumulateScaled(
    first: LossScale,
    differentiate: (scale: number, into: GradientSum) => Promise<boolean>,
  ): Promise<LossScale> {
    let tried = first;
    for (;;) {
      const found = new GradientSum(this.parameters);
      const hasFiniteScores = await differentiate(tried.scale, found);
      const isFinite = Number.isFinite(globalNorm(found.values));
      const smaller = halvedLossScale(tried);
      if (isFinite || !hasFiniteScores || smaller === null) {
        this.sum.addScaled(found, 1 / tried.scale);
        return isFinite ? tried : first;
      }
      tried = smaller;
    }
  }

  async step(options: AdamWOptions): Promise<StepResult> {
    const gradientNorm = globalNorm(this.gradients);
    const skipped = !Number.isFinite(gradientNorm);
    if (!skipped) {
      const decays = (name: string) => this.shapes.get(name)!.length > 1;
      const { learningRate, valueLearningRate = learningRate } = options;
      const rateOf = (name: string) => (this.options.valueHead?.has(name) ? valueLearningRate : learningRate);
      adamWStep(this.parameters, this.gradients, this.optimizer, options, gradientNorm, decays, rateOf);
      this.resident?.changed();
    }
    this.sum.clear();
    if (this.lossScale === null) return { gradientNorm, skipped };
    const lossScale = this.lossScale.scale;
    this.lossScale = lossScaleAfter(this.lossScale, gradientNorm);
    return { gradientNorm, skipped, lossScale };
  }

  async save(folder: string, options: { optimizer: boolean }): Promise<void> {
    const { config, files, valueHead } = this.options;
    await files.write(folder, this.policyParameters);
    if (valueHead) await saveValueHead(folder, config, valueHead);
    if (!options.optimizer) return;
    await saveOptimizer(folder, this.shapes, { adamW: this.optimizer, lossScale: this.lossScale });
  }

  async load(folder: string, options: { optimizer: boolean }): Promise<void> {
    const { files, valueHead } = this.options;
    const critic = valueHead ? await loadValueHead(folder) : [];
    const parameters = new Map([...(await files.read(folder)), ...critic]);
    checkParameters(this.shapes, parameters);
    const isScaled = this.lossScale !== null;
    const { adamW, lossScale } = options.optimizer
      ? await loadOptimizer(folder, this.parameters, isScaled)
      : { adamW: freshAdamWState(this.parameters), lossScale: isScaled ? firstLossScale : null };
    for (const [name, values] of this.parameters) values.set(parameters.get(name)!);
    this.resident?.changed();
    this.sum.clear();
    this.optimizer = adamW;
    this.lossScale = lossScale;
  }

  async dispose(): Promise<void> {
    await this.session.dispose();
    await this.resident?.dispose();
  }

  private emptyScores(sequences: readonly TrainingSequence[]): SequenceScores[] {
    return sequences.map(({ tokenIds }) => {
      const unknown = () => new Float32Array(tokenIds.length).fill(NaN);
      const scores = { logprobs: unknown(), entropies: unknown() };
      return this.options.valueHead ? { ...scores, stateValues: unknown() } : scores;
    });
  }

  private memoryFor(plan: readonly PlannedBatch[]): PrefixMemory {
    const { layers, keyValueHeads, headDim } = this.options.config;
    return new PrefixMemory(layers, keyValueHeads * headDim, longestTrunk(plan));
  }
}

function checkParameters(shapes: ReadonlyMap<string, number[]>, parameters: FrozenParameters): void {
  for (const [name, shape] of shapes) {
    const values = parameters.get(name);
    const found = values && countOf(values);
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

/** Where several sequences ask for one target, their sum; times the scale of the loss. */
function gatherCoefficients(
  batch: MicroBatch,
  coefficients: readonly SequenceCoefficients[],
  scale: number,
): FoundTargets {
  const scores = new Float32Array(2 * batch.targets.length);
  const ofStates = new Float32Array(batch.targets.length);
  for (const { target, sequence, place } of batch.askers) {
    const { logprobs, entropies, stateValues } = coefficients[sequence];
    scores[2 * target] += scale * logprobs[place];
    scores[2 * target + 1] += entropies ? scale * entropies[place] : 0;
    ofStates[target] += stateValues ? scale * stateValues[place] : 0;
  }
  return { scores, stateValues: ofStates };
}
