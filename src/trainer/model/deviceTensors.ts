import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { emitModel } from '../graph/emit.js';
import { Graph } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { InferenceSession, sessionOptions, type Tensor } from './onnxRuntime.js';
import type { Precision } from './precision.js';

/** Whether tensors can stay on a device between runs: of onnxruntime-node's providers WebGPU alone has that. */
export const keepsTensors = (device: Provider): boolean => device === 'webgpu';

/** A graph that gives as `kept` the tensor of so many axes that it is given as `given`. */
export function copyModel(type: Precision, rank: number, device: Provider): Uint8Array {
  const shape = Array.from({ length: rank }, (_, axis) => `size${axis}`);
  return emitModel(new Map([['kept', new Graph().input('given', shape, type)]]), device);
}

/**
 * Puts tensors on a device that `keepsTensors`, of any type that a model's weights have. Every session of this process can be fed
 * them from there, as long as they are not disposed of and this is not released. What the device refuses is an error of the
 * infrastructure.
 */
export class DeviceTensors {
  private readonly copiers = new Map<string, Promise<InferenceSession>>();

  constructor(private readonly device: Provider) {}

  /** Puts the numbers of a tensor there, in memory of their own. */
  put(tensor: Tensor): Promise<Tensor> {
    return this.attempt(async () => {
      const copier = await this.copier(tensor, 'gpu-buffer');
      return (await copier.run({ given: tensor }))['kept']!;
    });
  }

  /** Overwrites what was put there, in place; a run that was asked for before computes with what was there before. */
  rewrite(resident: Tensor, tensor: Tensor): Promise<void> {
    return this.attempt(async () => {
      // A session that has a place for its results does not look at the one that a run is given.
      const copier = await this.copier(tensor, undefined);
      const view = (await copier.run({ given: tensor }, { kept: resident }))['kept'];
      view?.dispose();
    });
  }

  /** Nothing that was put there may be used any more. */
  async release(): Promise<void> {
    // One that failed to compile has nothing to release.
    for (const copier of this.copiers.values()) await (await copier.catch(() => null))?.release();
    this.copiers.clear();
  }

  private copier({ type, dims }: Tensor, place: 'gpu-buffer' | undefined): Promise<InferenceSession> {
    if (type !== 'float32' && type !== 'float16') throw new Error(`internal: weights are no ${type}.`);
    const key = `${type} ${dims.length} ${place ?? 'given'}`;
    const known = this.copiers.get(key);
    if (known !== undefined) return known;
    const options = { ...sessionOptions(this.device, 1), ...(place && { preferredOutputLocation: place }) };
    const copier = InferenceSession.create(copyModel(type, dims.length, this.device), options);
    this.copiers.set(key, copier);
    return copier;
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw infrastructure(
        say`The model's weights cannot be put on '${this.device}': ${reason}.`,
        'Free memory or choose a smaller model, or try --device cpu.',
        error,
      );
    }
  }
}
