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
      if (!ArrayBuffer.isView(numbers)) feeds[name] = numbers;
      else if (numbers instanceof Float32Array) feeds[name] = new Tensor('float32', numbers, shape);
      else feeds[name] = new Tensor('float16', numbers, shape);
    }
  };
  feed(parameterShapes(config), parameters);
  if (adapter) feed(factorShapes(config, adapter.config), adapter.factors);
  if (valueHead) feed(valueHeadShapes(config), valueHead);
  return feeds;
}
