import { needsReference } from '../data/stages.js';
import type { Provider } from '../graph/provider.js';
import { contextOf } from '../model/contextLimit.js';
import { keepsTensors } from '../model/deviceTensors.js';
import { keepsFactors } from '../model/keptFactors.js';
import { activationBytesPerToken, packingLimits, recomputedActivationBytes } from '../model/learnerLimits.js';
import { elementCount, parameterShapes, type LlamaConfig } from '../model/llamaConfig.js';
import { factorShapes } from '../model/lora.js';
import type { Settings } from '../run/settings.js';

/** Bytes that a training takes at its height, by what takes them. */
export interface MemoryEstimate {
  readonly weights: number;
  /** Gradients, twice since the runtime hands out its own, and AdamW's two moments: of what is trained. */
  readonly learning: number;
  /** The weights that the policy is held against; 0 where it is not. */
  readonly reference: number;
  /** What one micro-batch keeps for its backward pass, and its logits. */
  readonly activations: number;
  /** Keys and values of the episodes that are played side by side, each as long as it may be; and the decoder's own weights. */
  readonly caches: number;
  /** The program and its compiled graphs. */
  readonly program: number;
  readonly total: number;
}

type MemorySettings = Pick<
  Settings,
  'lora' | 'precision' | 'activationMemory' | 'asynchrony' | 'concurrency' | 'deterministic'
> &
  Parameters<typeof needsReference>[0];

const float = 4;
/** Measured: a process with the command line's bundle and onnxruntime that has compiled a small model's graphs. */
const programBytes = 180 * 2 ** 20;
/** Measured with the benchmark of the learner: what the runtime holds for each byte that the plan of micro-batches counts. */
const arenaShare = 1.6;
/** Tensors as large as the logits that live at once: logits, their softmax, its gradient. */
const logitTensors = 3;
/** Rows of the decoder's batch at the least. */
const leastRows = 2;

export const parameterCount = (config: LlamaConfig): number => countOf(parameterShapes(config));

/** How many numbers are trained: all parameters, or an adapter's. */
export const trainedCount = (config: LlamaConfig, { lora }: Pick<Settings, 'lora'>): number =>
  lora.rank === 0 ? parameterCount(config) : countOf(factorShapes(config, lora));

/**
 * Memory of a training, in bytes of float32 (with `precision` float16, 2 P for the weights under an adapter): with P parameters, T of
 * them trained (an adapter's factors come on top), L layers, K key and value heads of width d, R episodes side by side and C tokens of
 * context,
 *
 *   weights 4 P (+ 4 T)   learning 4 T (2 + 2)   reference 4 P, with an adapter 4 T   caches 8 L K d R (C + C rounded up)
 *   (+ 4 P on the CPU, of models that are held twice: keptFactors.ts)
 *   activations 1.6 a + 3 * 4 V t, for a micro-batch whose tokens take a bytes (learnerLimits.ts), with its layers computed again or
 *   not, whichever is more, and that has t targets, and a vocabulary of V
 *
 * Where up to S steps are played ahead (`asynchrony`), weights of 4 T (1 + S) more are kept. On a device that keeps tensors, what is
 * trained is there too: 4 T more for the weights, and for the reference as much as it has.
 * It is what the training's process takes, with a device's own memory where there is one; the tests of the episodes are not
 * in it.
 */
export function estimateMemory(config: LlamaConfig, settings: MemorySettings, device: Provider): MemoryEstimate {
  const isAdapter = settings.lora.rank > 0;
  const parameters = parameterCount(config);
  const trained = trainedCount(config, settings);
  const learner = { config, device, precision: settings.precision };
  const limits = packingLimits({ ...learner, activationBytes: settings.activationMemory * 2 ** 20 });
  const context = contextOf(config);
  const [tokens, recomputed] = [limits.tokens(0), limits.recomputedTokens(0)];
  const whole = tokens * activationBytesPerToken(learner, 0);
  const byLayer = recomputed > tokens ? recomputedActivationBytes(learner, 0, recomputed) : 0;
  const logits = Math.min(limits.targets, recomputed) * config.vocabularySize;
  const rows = Math.max(leastRows, settings.deterministic ? 1 : settings.concurrency);
  // On the CPU, and where a device keeps tensors there.
  const places = keepsTensors(device) ? 2 : 1;
  // What the generator plays with, and what waits for it.
  const { maxStaleness } = settings.asynchrony;
  const ahead = maxStaleness === 0 ? 0 : 1 + maxStaleness;
  const unchanged = (settings.precision === 'float16' ? 2 : float) * parameters;
  const cachedNumbers = 2 * config.layers * config.keyValueHeads * config.headDim;
  const parts = {
    weights: (isAdapter ? unchanged : 0) + float * trained * (places + ahead),
    learning: float * trained * 4,
    reference: needsReference(settings) ? float * trained * places : 0,
    activations: arenaShare * Math.max(whole, byLayer) + float * logitTensors * logits,
    // The batch's own, and the sequences', which grow by doubling.
    caches:
      float * cachedNumbers * rows * (context + 2 ** Math.ceil(Math.log2(context))) +
      (keepsFactors(config, settings.precision, device) ? float * parameters : 0),
    program: programBytes,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, bytes) => sum + bytes, 0) };
}

const countOf = (shapes: ReadonlyMap<string, readonly number[]>): number =>
  [...shapes.values()].reduce((sum, shape) => sum + elementCount(shape), 0);
