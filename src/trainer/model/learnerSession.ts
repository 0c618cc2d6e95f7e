import { InferenceSession, Tensor } from './onnxRuntime.js';
import { badInput, infrastructure } from '../../trajectory/errors.js';
import { emitModel } from '../graph/emit.js';
import {
  gradientGraph,
  gradientOutput,
  scoresOutput,
  scoringGraph,
  trainingInputs,
  type LlamaGraph,
} from './llamaGraph.js';
import type { AdapterConfig } from './lora.js';
import { weightFeeds, type ModelWeights } from './modelWeights.js';
import type { MicroBatch } from './packing.js';

export type LearnerDevice = 'cpu' | 'webgpu';

export interface SessionOptions {
  readonly device: LearnerDevice;
  readonly threads: number;
}

/** The compiled graphs of one model: each is compiled when it is first wanted. Weights are fed at every run. */
export class LearnerSession {
  private scoring: Promise<InferenceSession> | null = null;
  private gradient: Promise<InferenceSession> | null = null;
  private readonly fixed: Record<string, Tensor>;
  private readonly adapterConfig: AdapterConfig | null;

  constructor(
    private readonly model: ModelWeights,
    private readonly options: SessionOptions,
  ) {
    this.fixed = weightFeeds(model);
    this.adapterConfig = model.adapter?.config ?? null;
  }

  /** [targets, 2]: log-probability and entropy of every target. */
  async score(batch: MicroBatch, temperature: number): Promise<Float32Array> {
    this.scoring ??= compile(scoringGraph(this.model.config, this.adapterConfig), this.options);
    const results = await run(await this.scoring, { ...this.fixed, ...batchFeeds(batch, temperature) });
    return floats(results[scoresOutput]);
  }

  /** As `score`, with the gradient of sum(coefficients * scores) handed to `receive` for each parameter. */
  async differentiate(
    batch: MicroBatch,
    temperature: number,
    coefficients: Float32Array,
    receive: (name: string, gradient: Float32Array) => void,
  ): Promise<Float32Array> {
    this.gradient ??= compile(gradientGraph(this.model.config, this.adapterConfig), this.options);
    const results = await (
      await this.gradient
    ).run({
      ...this.fixed,
      ...batchFeeds(batch, temperature),
      [trainingInputs.coefficients]: new Tensor('float32', coefficients, [batch.targets.length, 2]),
    });
    for (const name of (this.model.adapter?.factors ?? this.model.parameters).keys())
      receive(name, floats(results[gradientOutput(name)]));
    return floats(results[scoresOutput]);
  }

  async dispose(): Promise<void> {
    // One that failed to compile has nothing to release.
    for (const session of [this.scoring, this.gradient]) await (await session?.catch(() => null))?.release();
    this.scoring = this.gradient = null;
  }
}

async function compile({ outputs }: LlamaGraph, options: SessionOptions): Promise<InferenceSession> {
  const model = emitModel(outputs, options.device);
  try {
    return await InferenceSession.create(model, {
      executionProviders: [options.device],
      graphOptimizationLevel: 'all',
      intraOpNumThreads: options.threads,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: 3,
      // Threads that wait by spinning take the cores from the tests and tools that run beside the learner.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    });
  } catch (error) {
    throw badInput(`Cannot train on '${options.device}': ${messageOf(error)}.`, 'Use --device cpu.', error);
  }
}

/** A run can fail for want of memory, or because a driver was lost: the machine's fault, not the policy's. */
async function run(session: InferenceSession, feeds: Record<string, Tensor>): Promise<InferenceSession.ReturnType> {
  try {
    return await session.run(feeds);
  } catch (error) {
    const remedy = 'Free memory or choose a smaller model, or try --device cpu.';
    throw infrastructure(`The learner's computation failed: ${messageOf(error)}.`, remedy, error);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function batchFeeds(batch: MicroBatch, temperature: number): Record<string, Tensor> {
  const shape = [batch.rows, batch.length];
  const count = batch.targets.length;
  return {
    [trainingInputs.tokens]: new Tensor('int32', batch.tokens, shape),
    [trainingInputs.positions]: new Tensor('int32', batch.positions, shape),
    [trainingInputs.segments]: new Tensor('int32', batch.segments, shape),
    [trainingInputs.sources]: new Tensor('int32', batch.sources, [count]),
    [trainingInputs.targets]: new Tensor('int32', batch.targets, [count, 1]),
    [trainingInputs.sharpness]: new Tensor('float32', Float32Array.of(1 / temperature), []),
  };
}

function floats(tensor: Tensor): Float32Array {
  if (!(tensor.data instanceof Float32Array)) throw new Error(`internal: float32 was expected, not ${tensor.type}.`);
  return tensor.data;
}
