import { Tensor } from './onnxRuntime.js';
import { parameterShapes, type LlamaConfig } from './llamaConfig.js';
import { rotaryFeeds } from './llamaLayers.js';
import { factorShapes, type Adapter } from './lora.js';
import { valueHeadShapes, type ValueHead } from './valueHead.js';

/** A model's numbers: its own, and those of the adapter on top of it. They may change between runs, in place. */
export interface ModelWeights {
  readonly config: LlamaConfig;
  readonly parameters: ReadonlyMap<string, Float32Array>;
  readonly adapter: Adapter | null;
  /** A critic's parameters; generation has no use for them. */
  readonly valueHead?: ValueHead;
}

/** The feeds that stay the same from run to run: the weights, and the tables of the positions. */
export function weightFeeds({ config, parameters, adapter, valueHead }: ModelWeights): Record<string, Tensor> {
  const feeds = rotaryFeeds(config);
  const feed = (shapes: ReadonlyMap<string, number[]>, values: ReadonlyMap<string, Float32Array>) => {
    for (const [name, shape] of shapes) feeds[name] = new Tensor('float32', values.get(name)!, shape);
  };
  feed(parameterShapes(config), parameters);
  if (adapter) feed(factorShapes(config, adapter.config), adapter.factors);
  if (valueHead) feed(valueHeadShapes(config), valueHead);
  return feeds;
}
