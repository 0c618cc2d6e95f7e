import { join } from 'node:path';
import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import type { AdamWState } from './adamw.js';
import { lossScaleIn, lossScaleMetadata, type LossScale } from './lossScale.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors.js';

const optimizerFile = 'optimizer.safetensors';

/** What an optimizer knows beside the parameters. */
export interface OptimizerState {
  readonly adamW: AdamWState;
  /** Null where everything is float32. */
  readonly lossScale: LossScale | null;
}

/** Writes optimizer.safetensors into a folder. */
export async function saveOptimizer(
  folder: string,
  shapes: ReadonlyMap<string, readonly number[]>,
  { adamW, lossScale }: OptimizerState,
): Promise<void> {
  const tensors = new Map<string, { shape: readonly number[]; data: Float32Array }>();
  for (const [name, shape] of shapes) {
    tensors.set(firstMoment(name), { shape, data: adamW.firstMoments.get(name)! });
    tensors.set(secondMoment(name), { shape, data: adamW.secondMoments.get(name)! });
  }
  const metadata = { step: String(adamW.step), ...(lossScale && lossScaleMetadata(lossScale)) };
  await writeSafetensors(join(folder, optimizerFile), tensors, { metadata });
}

/** Throws `bad-input` where the file does not fit the parameters, or lacks the scale of the loss where it `isScaled`. */
export async function loadOptimizer(
  folder: string,
  parameters: ReadonlyMap<string, Float32Array>,
  isScaled: boolean,
): Promise<OptimizerState> {
  const path = join(folder, optimizerFile);
  const { metadata } = await readSafetensorsHeader(path);
  const step = Number(metadata['step'] ?? NaN);
  const stored = await readSafetensors(path);
  const moments = (key: (name: string) => string) =>
    new Map(
      [...parameters].map(([name, values]) => {
        const data = stored.get(key(name))?.data;
        if (data?.length !== values.length) throw wrongOptimizer(path, say`"${key(name)}" does not fit the model`);
        return [name, data];
      }),
    );
  if (!Number.isInteger(step) || step < 0) throw wrongOptimizer(path, say`it names no step`);
  const lossScale = isScaled ? lossScaleIn(metadata) : null;
  if (isScaled && lossScale === null) {
    throw wrongOptimizer(path, say`it names no scale of the loss, which learning in float16 needs`);
  }
  return { adamW: { firstMoments: moments(firstMoment), secondMoments: moments(secondMoment), step }, lossScale };
}

const firstMoment = (name: string) => `first_moment.${name}`;
const secondMoment = (name: string) => `second_moment.${name}`;

const wrongOptimizer = (path: string, reason: Said) =>
  badInput(say`Cannot continue with the optimizer in '${path}': ${reason}.`, 'Resume from another checkpoint.');
