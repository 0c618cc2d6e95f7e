import { z } from 'zod';
import { say, type Said } from '../../trajectory/said.js';

/** How rotary positions are stretched to contexts longer than those of the first training. */
export type RopeScaling =
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      /** Positions of the first training. */
      readonly originalPositions: number;
    }
  | {
      readonly kind: 'yarn';
      readonly factor: number;
      /** Multiplies cosines and sines, so scores by its square. */
      readonly attentionFactor: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly originalPositions: number;
      /** Whether the bounds between kept and stretched dimensions are whole numbers. */
      readonly truncate: boolean;
    };

export interface RopeShape {
  /** Width of one head; even. */
  readonly headDim: number;
  readonly ropeTheta: number;
  readonly ropeScaling?: RopeScaling;
}

/**
 * Radians a position turns pair i of a head by: theta^(-2i/d), i < d/2 (RoFormer, arXiv 2104.09864), stretched as
 * `ropeScaling` says; `magnitude` multiplies cosines and sines.
 */
export function ropeFrequencies(shape: RopeShape): { frequencies: Float64Array; magnitude: number } {
  const { headDim, ropeTheta, ropeScaling } = shape;
  const plain = Float64Array.from({ length: headDim / 2 }, (_, i) => ropeTheta ** ((-2 * i) / headDim));
  if (ropeScaling === undefined) return { frequencies: plain, magnitude: 1 };
  const { factor } = ropeScaling;
  switch (ropeScaling.kind) {
    case 'linear':
      return { frequencies: plain.map((each) => each / factor), magnitude: 1 };
    case 'llama3':
      return { frequencies: plain.map((each) => llama3Frequency(each, ropeScaling)), magnitude: 1 };
    case 'yarn': {
      const stretched = yarnStretch(shape, ropeScaling);
      const frequencies = plain.map((each, i) => (each / factor) * stretched[i]! + each * (1 - stretched[i]!));
      return { frequencies, magnitude: ropeScaling.attentionFactor };
    }
  }
}

/** Llama 3.1's rule: short waves stay, long ones are stretched, between them a linear passage. */
function llama3Frequency(frequency: number, scaling: RopeScaling & { kind: 'llama3' }): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
  const turns = (scaling.originalPositions * frequency) / (2 * Math.PI);
  if (turns > high) return frequency;
  if (turns < low) return frequency / factor;
  const kept = (turns - low) / (high - low);
  return ((1 - kept) * frequency) / factor + kept * frequency;
}

/** How much of each pair is stretched, 0 to 1 (YaRN, arXiv 2309.00071, equation 23 in dimensions). */
function yarnStretch({ headDim, ropeTheta }: RopeShape, scaling: RopeScaling & { kind: 'yarn' }): Float64Array {
  const dimensionOfTurns = (turns: number) =>
    (headDim * Math.log(scaling.originalPositions / (turns * 2 * Math.PI))) / (2 * Math.log(ropeTheta));
  const bounds = [dimensionOfTurns(scaling.betaFast), dimensionOfTurns(scaling.betaSlow)] as const;
  const low = Math.max(0, scaling.truncate ? Math.floor(bounds[0]) : bounds[0]);
  const high = Math.min(headDim - 1, scaling.truncate ? Math.ceil(bounds[1]) : bounds[1]);
  const width = high === low ? 0.001 : high - low;
  return Float64Array.from({ length: headDim / 2 }, (_, i) => Math.min(1, Math.max(0, (i - low) / width)));
}

const positive = z.number().positive().max(1e9);
const ropeSchema = z.looseObject({
  rope_theta: positive.nullish(),
  rope_type: z.string().nullish(),
  /** The older name of `rope_type`. */
  type: z.string().nullish(),
  partial_rotary_factor: z.number().nullish(),
  factor: positive.nullish(),
  original_max_position_embeddings: positive.nullish(),
  low_freq_factor: positive.nullish(),
  high_freq_factor: positive.nullish(),
  attention_factor: positive.nullish(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  mscale: z.number().nullish(),
  mscale_all_dim: z.number().nullish(),
  truncate: z.boolean().nullish(),
});

/** The fields of a config.json that decide its rotary positions, in the old form and that of transformers 5. */
export const ropeFields = {
  rope_theta: positive.nullish(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  partial_rotary_factor: z.number().nullish(),
  original_max_position_embeddings: positive.nullish(),
};

type RopeFields = z.infer<z.ZodObject<typeof ropeFields>> & { readonly max_position_embeddings: number };

/** Reads them with transformers' defaults; `refuse` makes the error for what is not supported. */
export function parseRope(
  fields: RopeFields,
  defaultTheta: number,
  refuse: (what: Said | string) => Error,
): Pick<RopeShape, 'ropeTheta' | 'ropeScaling'> {
  const rope = fields.rope_scaling ?? fields.rope_parameters ?? {};
  for (const [name, value] of Object.entries(rope))
    if (typeof value === 'object' && value !== null) throw refuse(say`rope parameters by kind of layer (${name})`);
  if ((rope.partial_rotary_factor ?? fields.partial_rotary_factor ?? 1) !== 1) throw refuse('partial_rotary_factor');
  const ropeTheta = rope.rope_theta ?? fields.rope_theta ?? defaultTheta;
  const kind = rope.rope_type ?? rope.type ?? 'default';
  // Dynamic scaling changes nothing up to max_position_embeddings, and longer sequences are refused.
  if (kind === 'default' || kind === 'dynamic') return { ropeTheta };
  const wanted = (name: 'factor' | 'low_freq_factor' | 'high_freq_factor') => {
    const value = rope[name];
    if (typeof value !== 'number') throw refuse(say`rope_type ${kind} without ${name}`);
    return value;
  };
  const originalPositions =
    fields.original_max_position_embeddings ?? rope.original_max_position_embeddings ?? fields.max_position_embeddings;
  if (kind === 'linear') return { ropeTheta, ropeScaling: { kind, factor: wanted('factor') } };
  if (kind === 'llama3') {
    const [lowFrequencyFactor, highFrequencyFactor] = [wanted('low_freq_factor'), wanted('high_freq_factor')];
    if (lowFrequencyFactor >= highFrequencyFactor)
      throw refuse(say`a low_freq_factor that is not below high_freq_factor`);
    const scaling = {
      kind,
      factor: wanted('factor'),
      lowFrequencyFactor,
      highFrequencyFactor,
      originalPositions,
    } as const;
    return { ropeTheta, ropeScaling: scaling };
  }
  if (kind !== 'yarn') throw refuse(`rope_type ${JSON.stringify(kind)}`);
  const factor = rope.factor ?? fields.max_position_embeddings / originalPositions;
  const { mscale, mscale_all_dim: mscaleAll } = rope;
  const magnitude = (scale = 1) => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1);
  const inferred = mscale && mscaleAll ? magnitude(mscale) / magnitude(mscaleAll) : magnitude();
  return {
    ropeTheta,
    ropeScaling: {
      kind,
      factor,
      attentionFactor: rope.attention_factor ?? inferred,
      betaFast: rope.beta_fast ?? 32,
      betaSlow: rope.beta_slow ?? 1,
      originalPositions,
      truncate: rope.truncate ?? true,
    },
  };
}

/** The `rope_parameters` that `parseRope` and transformers read back. */
export function ropeJson({ ropeTheta, ropeScaling }: Pick<RopeShape, 'ropeTheta' | 'ropeScaling'>): object {
  const base = { rope_theta: ropeTheta, rope_type: ropeScaling?.kind ?? 'default' };
  if (ropeScaling === undefined) return base;
  switch (ropeScaling.kind) {
    case 'linear':
      return { ...base, factor: ropeScaling.factor };
    case 'llama3':
      return {
        ...base,
        factor: ropeScaling.factor,
        low_freq_factor: ropeScaling.lowFrequencyFactor,
        high_freq_factor: ropeScaling.highFrequencyFactor,
        original_max_position_embeddings: ropeScaling.originalPositions,
      };
    case 'yarn':
      return {
        ...base,
        factor: ropeScaling.factor,
        attention_factor: ropeScaling.attentionFactor,
        beta_fast: ropeScaling.betaFast,
        beta_slow: ropeScaling.betaSlow,
        original_max_position_embeddings: ropeScaling.originalPositions,
        truncate: ropeScaling.truncate,
      };
  }
}
