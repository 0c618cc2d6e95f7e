import type { Trajectory } from './trajectory.js';

/** The messages of a trajectory alone, where nobody knows the tokenizer that its ids belong to. */
export function withoutTokens(trajectory: Trajectory): Trajectory {
  const nodes = trajectory.nodes.map(({ forced: _, ...node }) => ({
    ...node,
    tokenIds: new Int32Array(0),
    actionMask: new Uint8Array(0),
    logprobs: new Float32Array(0),
    entropies: new Float32Array(0),
  }));
  return { ...trajectory, nodes, statistics: { ...trajectory.statistics, sampledTokens: 0, totalTokens: 0 } };
}
