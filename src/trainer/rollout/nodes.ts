import type { AssistantMessage, Message, ToolMessage } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { GenerationResult, TrainingSequence } from '../model/policy.js';
import type { TextCodec } from '../text/textCodec.js';

/** Nodes of a trajectory while it is played: one path, each node the parent of the next. */
export class NodePath {
  readonly nodes: TrajectoryNode[] = [];
  /** Tokens so far, and those of them that the policy sampled. */
  tokens = 0;
  sampledTokens = 0;

  /** Tokens that the policy did not sample: mask 0. */
  addGiven(message: Message, tokenIds: Int32Array): void {
    const unknown = new Float32Array(tokenIds.length).fill(NaN);
    this.add({ message, tokenIds, actionMask: new Uint8Array(tokenIds.length), logprobs: unknown, entropies: unknown });
  }

  /** A sampled turn: mask 1 on every token, the stop token included. */
  addSampled(message: AssistantMessage, { tokenIds, logprobs, entropies }: GenerationResult): void {
    this.add({ message, tokenIds, actionMask: new Uint8Array(tokenIds.length).fill(1), logprobs, entropies });
    this.sampledTokens += tokenIds.length;
  }

  /** The ids that the policy sees next. */
  tokenIds(): Int32Array {
    return concatenate(this.nodes.map((node) => node.tokenIds));
  }

  private add(node: Omit<TrajectoryNode, 'parent'>): void {
    this.nodes.push({ parent: this.nodes.length === 0 ? null : this.nodes.length - 1, ...node });
    this.tokens += node.tokenIds.length;
  }
}

/**
 * The observations after a turn with the ids that each adds; laid end to end they are exactly `codec.observation` of all.
 * A boundary is where the ids of the first k observations stop agreeing with those of all: behind the k-th one's text.
 */
export function observationNodes(
  codec: TextCodec,
  turn: { sampledIds: Int32Array; message: AssistantMessage },
  observations: readonly ToolMessage[],
): { message: ToolMessage; tokenIds: Int32Array }[] {
  const all = codec.observation(turn, observations);
  let start = 0;
  return observations.map((message, index) => {
    const last = index === observations.length - 1;
    const agreeing = last ? all.length : commonPrefix(all, codec.observation(turn, observations.slice(0, index + 1)));
    const end = Math.max(start, agreeing);
    const node = { message, tokenIds: all.slice(start, end) };
    start = end;
    return node;
  });
}

function commonPrefix(a: Int32Array, b: Int32Array): number {
  const differs = a.findIndex((id, index) => id !== b[index]);
  return differs < 0 ? a.length : differs;
}

/** The trajectory's tokens for the learner, up to its last sampled token: what follows cannot be learned from. */
export function trainingSequence(trajectory: Trajectory): TrainingSequence {
  const actionMask = concatenateBytes(trajectory.nodes.map((node) => node.actionMask));
  const end = actionMask.lastIndexOf(1) + 1;
  return {
    tokenIds: concatenate(trajectory.nodes.map((node) => node.tokenIds)).subarray(0, end),
    actionMask: actionMask.subarray(0, end),
  };
}

/** The sampler's log-probabilities laid end to end: [tokens]. */
export function samplerLogprobs(trajectory: Trajectory): Float32Array {
  const joined = new Float32Array(trajectory.nodes.reduce((sum, node) => sum + node.logprobs.length, 0));
  let offset = 0;
  for (const { logprobs } of trajectory.nodes) {
    joined.set(logprobs, offset);
    offset += logprobs.length;
  }
  return joined;
}

function concatenate(parts: readonly Int32Array[]): Int32Array {
  const joined = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

const concatenateBytes = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
