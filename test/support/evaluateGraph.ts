import { InferenceSession, Tensor as OrtTensor } from '../../src/trainer/model/onnxRuntime.js';
import { emitModel } from '../../src/trainer/graph/emit.js';
import type { Tensor } from '../../src/trainer/graph/graph.js';

export type Feed = { readonly shape: readonly number[] } & (
  { readonly floats: Float32Array } | { readonly int32: Int32Array } | { readonly int64: readonly number[] }
);

export interface CompiledGraph {
  run(feeds: Readonly<Record<string, Feed>>): Promise<Record<string, Float32Array>>;
  release(): Promise<void>;
}

/** Compiles a graph for the CPU; its outputs must be float32. */
export async function compileGraph(outputs: ReadonlyMap<string, Tensor>): Promise<CompiledGraph> {
  const session = await InferenceSession.create(emitModel(outputs), { intraOpNumThreads: 1, logSeverityLevel: 3 });
  return {
    run: async (feeds) => {
      const tensors = Object.entries(feeds).map(([name, feed]) => [name, ortTensor(feed)] as const);
      const results = await session.run(Object.fromEntries(tensors));
      return Object.fromEntries([...outputs.keys()].map((name) => [name, results[name].data as Float32Array]));
    },
    release: () => session.release(),
  };
}

function ortTensor(feed: Feed): OrtTensor {
  if ('floats' in feed) return new OrtTensor('float32', feed.floats, feed.shape);
  if ('int32' in feed) return new OrtTensor('int32', feed.int32, feed.shape);
  return new OrtTensor('int64', BigInt64Array.from(feed.int64.map(BigInt)), feed.shape);
}
