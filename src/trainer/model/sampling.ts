import { failed } from '../../trajectory/errors.js';
import { expOfNegative } from './expOfNegative.js';

/** How a token is chosen from logits. */
export interface SamplingOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  /** The smallest set of most probable tokens that holds at least this probability; 1 keeps all. */
  readonly topP: number;
  /** Only the most probable tokens, this many; 0 keeps all. */
  readonly topK: number;
  /** Only tokens at least this share as probable as the most probable one; 0 keeps all. */
  readonly minP?: number;
}

export interface SampledToken {
  readonly id: number;
  /** Of softmax(logits / temperature) over the whole vocabulary, before top-k, top-p and min-p; temperature 1 where greedy. */
  readonly logprob: number;
  /** Entropy in nats of the same distribution. */
  readonly entropy: number;
}

/**
 * Chooses a token by the uniform number `u` in [0, 1). Of equal logits the lower id comes first. Throws `failed` where
 * a logit is not finite.
 */
export function sampleToken(logits: Float32Array, options: SamplingOptions, u: number): SampledToken {
  const { temperature } = options;
  const sharpness = temperature === 0 ? 1 : 1 / temperature;
  let greatest = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[greatest]!) greatest = id;
  const maximum = logits[greatest]!;
  const weights = scratch(logits.length);
  let total = 0;
  let weightedLogits = 0;
  for (let id = 0; id < logits.length; id++) {
    const shifted = (logits[id]! - maximum) * sharpness;
    const weight = expOfNegative(shifted);
    weights[id] = weight;
    total += weight;
    if (weight > 0) weightedLogits += weight * shifted;
  }
  if (!Number.isFinite(total) || !Number.isFinite(maximum))
    throw failed(
      'The policy diverged: its logits are not finite.',
      'Go back to an earlier checkpoint; lower learningRate.',
    );
  const logTotal = Math.log(total);
  // H = -sum p log p with log p = shifted - logTotal.
  const entropy = Math.max(0, logTotal - weightedLogits / total);
  const id = temperature === 0 ? greatest : draw(weights, total, options, u);
  return { id, logprob: (logits[id]! - maximum) * sharpness - logTotal, entropy };
}

let room = new Float64Array(0);
/** Room for a vocabulary's weights until the next token: a new array for each would be most of the garbage of a generation. */
function scratch(length: number): Float64Array {
  if (room.length !== length) room = new Float64Array(length);
  return room;
}

/** Logits with all tokens but the allowed ones impossible. Throws `failed` where none is left. */
export function onlyAllowed(logits: Float32Array, allowed: Uint8Array): Float32Array {
  const possible = logits.map((logit, id) => (allowed[id] === 1 ? logit : -Infinity));
  if (possible.some((logit) => logit !== -Infinity)) return possible;
  throw failed('The vocabulary has no token that goes on with a valid call.', 'Leave out `constrainedCalls`.');
}

/** Top-k first, then min-p, then top-p within what they kept. The greatest weight is 1. */
function draw(weights: Float64Array, total: number, { topK, topP, minP = 0 }: SamplingOptions, u: number): number {
  const cutsK = topK > 0 && topK < weights.length;
  if (!cutsK && topP >= 1 && minP <= 0) return inverseCdf(weights, u * total);
  const possible = minP <= 0 ? total : weights.reduce((sum, weight) => (weight >= minP ? sum + weight : sum), 0);
  const ids = greatest(weights, minP, (count, mass) => (cutsK ? count >= topK : mass >= topP * possible));
  const candidates = cutsK ? ids.slice(0, topK) : ids;
  const kept = cutsK ? candidates.reduce((sum, id) => sum + weights[id]!, 0) : possible;
  let mass = 0;
  let count = 0;
  while (count < candidates.length && (count === 0 || mass < topP * kept)) mass += weights[candidates[count++]!]!;
  return inverseCdfOf(weights, candidates.slice(0, count), u * mass);
}

/**
 * The ids of the greatest weights, falling, until `suffices` says so of their count and sum: few as a rule, while to sort a whole
 * vocabulary takes longer than a step of a small model. Of those below `least` none.
 */
function greatest(weights: Float64Array, least: number, suffices: (count: number, mass: number) => boolean): number[] {
  for (let halvings = 8; ; halvings *= 2) {
    const bound = Math.max(least, 2 ** -halvings);
    const ids: number[] = [];
    let mass = 0;
    for (let id = 0; id < weights.length; id++) {
      const weight = weights[id]!;
      if (weight < bound) continue;
      ids.push(id);
      mass += weight;
    }
    if (bound <= Math.max(least, 0) || suffices(ids.length, mass))
      return ids.sort((a, b) => weights[b]! - weights[a]! || a - b);
  }
}

/** The first id at which the running sum of weights passes `target`. */
function inverseCdf(weights: Float64Array, target: number): number {
  let sum = 0;
  for (let id = 0; id < weights.length; id++) {
    sum += weights[id]!;
    if (sum > target) return id;
  }
  // Rounding may leave the sum a hair below the target.
  return weights.findLastIndex((weight) => weight > 0);
}

/** The same in the order of `ids`. */
function inverseCdfOf(weights: Float64Array, ids: readonly number[], target: number): number {
  let sum = 0;
  for (const id of ids) {
    sum += weights[id]!;
    if (sum > target) return id;
  }
  return ids.findLast((id) => weights[id]! > 0)!;
}

/**
 * Uniform numbers in [0, 1) of a request's own stream: xoshiro128** (Blackman, Vigna 2018), seeded by splitmix32.
 * The same seed gives the same numbers everywhere.
 */
export function uniformStream(seed: number): () => number {
  const mix = splitmix32(seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0);
  let [a, b, c, d] = [mix(), mix(), mix(), mix()];
  return () => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result / 2 ** 32;
  };
}

/** 32-bit words from a 64-bit seed, given in halves. */
function splitmix32(low: number, high: number): () => number {
  const scramble = (word: number) => {
    let z = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
  let state = (scramble(high + 0x3c6ef372) ^ low) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    return scramble(state);
  };
}
