import type { Message } from '../trajectory/message.js';
import type { TrajectoryNode } from '../trajectory/trajectory.js';

/** A node of a trajectory that holds a message and no tokens. */
export const messageNode = (message: Message): TrajectoryNode => ({
  parent: null,
  message,
  tokenIds: new Int32Array(0),
  actionMask: new Uint8Array(0),
  logprobs: new Float32Array(0),
  entropies: new Float32Array(0),
});
