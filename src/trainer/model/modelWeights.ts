import { Tensor } from './onnxRuntime.js';
import type { FrozenParameters } from './frozenParameters.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { rotaryFeeds } from './llamaLayers.js';
import { factorShapes, type Adapter } from './lora.js';
import { valueHeadShapes, type ValueHead } from './valueHead.js';

/** A model's numbers: its own, and those of the adapter on top of it. They may change between runs, in place. */
export interface ModelWeights {
  readonly config: LlamaConfig;
  readonly parameters: FrozenParameters;
  readonly adapter: Adapter | null;
  /** A critic's parameters; generation has no use for them. */
  readonly valueHead?: ValueHead;
}

/** The feeds that stay the same from run to run: the weights, and the tables of the positions. */
export function weightFeeds({ config, parameters, adapter, valueHead }: ModelWeights): Record<string, Tensor> {
  const feeds = rotaryFeeds(config);
  const feed = (shapes: ReadonlyMap<string, number[]>, values: FrozenParameters) => {
    for (const [name, shape] of shapes) {
      const numbers = values.get(name)!;
      feeds[name] = ArrayBuffer.isView(numbers) ? tensorOf(numbers, shape) : numbers;
    }
  };
  feed(parameterShapes(config), parameters);
  if (adapter) feed(factorShapes(config, adapter.config), adapter.factors);
  if (valueHead) feed(valueHeadShapes(config), valueHead);
  return feeds;
}

/** The names of those feeds that training changes. */
export const trainedNames = ({ parameters, adapter, valueHead }: ModelWeights): ReadonlySet<string> =>
  new Set([...(adapter?.factors ?? parameters).keys(), ...(valueHead?.keys() ?? [])]);

/** Of numbers, or the bits of float16, in place. */
export const tensorOf = (values: Float32Array | Uint16Array, shape: readonly number[]): Tensor =>
  values instanceof Float32Array ? new Tensor('float32', values, shape) : new Tensor('float16', values, shape);
