import type { Provider } from '../graph/provider.js';
import { DeviceTensors } from './deviceTensors.js';
import type { FrozenParameters } from './frozenParameters.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { tensorOf } from './modelWeights.js';
import type { Tensor } from './onnxRuntime.js';

/** Parameters that lie on a device. */
export interface ResidentParameters {
  readonly parameters: FrozenParameters;
  /** Frees them; no session may be fed them any more. */
  dispose(): Promise<void>;
}

/**
 * Puts a model that is not trained itself on a device that `keepsTensors`, once for every session of this process; fed from here its
 * parameters would cross over to it at every run. They are let go here one by one, so that `parameters` is empty afterwards.
 */
export async function uploadParameters(
  config: LlamaConfig,
  parameters: Map<string, Float32Array | Uint16Array>,
  provider: Provider,
): Promise<ResidentParameters> {
  const resident = new Map<string, Tensor>();
  const device = new DeviceTensors(provider);
  const dispose = async () => {
    for (const tensor of resident.values()) tensor.dispose();
    resident.clear();
    // What it put on the device is its own to the end.
    await device.release();
  };
  try {
    for (const [name, shape] of parameterShapes(config)) {
      const values = parameters.get(name)!;
      parameters.delete(name);
      resident.set(name, await device.put(tensorOf(values, shape)));
    }
    return { parameters: resident, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
