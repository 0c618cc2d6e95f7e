/**
 * Dynamic loss scaling (arXiv 1710.03740, section 3.2): float16 loses gradients below 2^-24, so the loss is multiplied by a power of two
 * before the backward pass, and the gradients are divided by it, in float32, when they come out. Where a gradient overflows, half of the
 * scale is tried; after `growthInterval` updates at one scale the double. As torch.amp.GradScaler does it, but for one thing: what
 * overflowed is computed again, since an update costs the rollouts that it learns from.
 */
export interface LossScale {
  readonly scale: number;
  /** Updates since the scale last changed. */
  readonly updates: number;
}

export const firstLossScale: LossScale = { scale: 2 ** 15, updates: 0 };
export const growthInterval = 50;
/** Gradients that fit beneath this scale have left float16's small numbers far behind. */
export const largestLossScale = 2 ** 24;

/** After gradients that were not finite; null where no smaller scale is left to try. */
export const halvedLossScale = ({ scale }: LossScale): LossScale | null =>
  scale > 1 ? { scale: scale / 2, updates: 0 } : null;

/** After an update with gradients of this norm. None at all say nothing of the scale, and neither does what is not finite. */
export function lossScaleAfter({ scale, updates }: LossScale, gradientNorm: number): LossScale {
  if (!(gradientNorm > 0 && Number.isFinite(gradientNorm))) return { scale, updates };
  if (updates + 1 < growthInterval) return { scale, updates: updates + 1 };
  return { scale: Math.min(largestLossScale, 2 * scale), updates: 0 };
}

const scaleKey = 'loss_scale';
const updatesKey = 'loss_scale_updates';

/** As it is kept in the header of the optimizer's file. */
export const lossScaleMetadata = ({ scale, updates }: LossScale): Record<string, string> => ({
  [scaleKey]: String(scale),
  [updatesKey]: String(updates),
});

/** Null where the header names none that `lossScaleMetadata` could have written. */
export function lossScaleIn(metadata: Readonly<Record<string, string>>): LossScale | null {
  const [scale, updates] = [Number(metadata[scaleKey]), Number(metadata[updatesKey])];
  const isScale = scale >= 1 && scale <= largestLossScale && Number.isInteger(Math.log2(scale));
  return isScale && Number.isInteger(updates) && updates >= 0 && updates < growthInterval ? { scale, updates } : null;
}
