import type { DType, Dim, Shape } from './shape.js';

/**
 * Every operation with its parameters. Axes count from 0 and are never negative.
 * The last group is composite: each has a body in the others and a derivative of its own that saves passes over memory.
 */
export interface OpParameters {
  /** Fed at run time. */
  input: { readonly name: string };
  /** A literal: scalars, index vectors, small tables. */
  constant: { readonly values: readonly number[] };

  // Element by element, broadcasting
  add: None;
  sub: None;
  mul: None;
  div: None;
  neg: None;
  exp: None;
  log: None;
  sqrt: None;
  sigmoid: None;
  /** inputs: condition (bool), value where true, value where false. */
  where: None;
  equal: None;
  greaterOrEqual: None;
  and: None;
  cast: { readonly to: DType };

  // Shape
  reshape: { readonly shape: Shape };
  expand: { readonly shape: Shape };
  transpose: { readonly permutation: readonly number[] };
  slice: { readonly axis: number; readonly start: Dim; readonly end: Dim };
  concat: { readonly axis: number };

  // Sums and products. Reductions keep the axes, with size 1.
  reduceSum: { readonly axes: readonly number[] };
  reduceMax: { readonly axes: readonly number[] };
  /** Over the last axis. */
  softmax: None;
  logSoftmax: None;
  /** [..., m, k] x [..., k, n]; the flags swap the last two axes of an operand first. Batch axes broadcast. */
  matmul: { readonly transposeA: boolean; readonly transposeB: boolean };

  // Indexing; indices are int32 or int64
  /** table [n, ...], indices [...any] -> [...any, ...]. */
  gather: None;
  /** zeros [rows, width] with updates [count, width] added at indices [count]; repeated indices add up. */
  scatterAddRows: { readonly rows: Dim };
  /** values [..., n], indices [..., 1] -> [..., 1]: one element of each row. */
  pick: None;
  /** values [..., n], indices [..., 1], updates [..., 1]: adds to one element of each row. */
  addAt: None;

  // Order
  /** The first operand as it is, but not before the others are computed. */
  after: None;

  // Kernels that every provider has in one piece
  /** x [rows, time, heads * width], positions [rows, time] int64, cosines and sines [positions, width / 2]. */
  rotary: None;
  /** x / sqrt(mean(x^2 over the last axis) + epsilon) * weight. */
  rmsNorm: { readonly epsilon: number };

  // Composite
  silu: None;
  /** Queries [b, kv, group, s, d], keys and values [b, kv, t, d], bias broadcasting to [b, kv, group, s, t]. */
  attend: None;
  /** logits [n, v], targets [n, 1] -> [n, 2]: the target's log-probability and the entropy of the row, in nats. */
  tokenScores: None;
}

type None = Readonly<Record<string, never>>;
export type Op = keyof OpParameters;
