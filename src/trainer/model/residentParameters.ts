import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { emitModel } from '../graph/emit.js';
import { Graph } from '../graph/graph.js';
import type { Provider } from '../graph/provider.js';
import { precisionOf, type FrozenParameters } from './frozenParameters.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { InferenceSession, sessionOptions, Tensor } from './onnxRuntime.js';

/** Parameters whose matrices lie on a device. */
export interface ResidentParameters {
  readonly parameters: FrozenParameters;
  /** Frees them; no session may be fed them any more. */
  dispose(): Promise<void>;
}

/** Whether tensors can stay on a device between runs: of onnxruntime-node's providers WebGPU alone has that. */
export const keepsTensors = (device: Provider): boolean => device === 'webgpu';

/**
 * Puts the matrices of a model that is not trained itself on a device that `keepsTensors`, once for every session of this process;
 * fed from here they would cross over to it at every run. They are let go here one by one, so that `parameters` is empty afterwards.
 */
export async function uploadParameters(
  config: LlamaConfig,
  parameters: Map<string, Float32Array | Uint16Array>,
  device: Provider,
): Promise<ResidentParameters> {
  const resident = new Map<string, Float32Array | Tensor>();
  let session: InferenceSession | null = null;
  const dispose = async () => {
    for (const values of resident.values()) if (!ArrayBuffer.isView(values)) values.dispose();
    resident.clear();
    // What it put on the device is its own to the end.
    await session?.release();
  };
  try {
    const precision = precisionOf(parameters);
    const graph = new Graph();
    const same = emitModel(new Map([['resident', graph.input('matrix', ['rows', 'columns'], precision)]]), device);
    session = await InferenceSession.create(same, {
      ...sessionOptions(device, 1),
      preferredOutputLocation: 'gpu-buffer',
    });
    for (const [name, shape] of parameterShapes(config)) {
      const values = parameters.get(name)!;
      parameters.delete(name);
      if (shape.length !== 2) resident.set(name, values as Float32Array);
      else resident.set(name, (await session.run({ matrix: tensorOf(values, shape) }))['resident']!);
    }
    return { parameters: resident, dispose };
  } catch (error) {
    await dispose();
    const reason = error instanceof Error ? error.message : String(error);
    throw infrastructure(
      say`The model's weights cannot be put on '${device}': ${reason}.`,
      'Free memory or choose a smaller model, or try --device cpu.',
      error,
    );
  }
}

const tensorOf = (values: Float32Array | Uint16Array, shape: readonly number[]): Tensor =>
  values instanceof Float32Array ? new Tensor('float32', values, shape) : new Tensor('float16', values, shape);
