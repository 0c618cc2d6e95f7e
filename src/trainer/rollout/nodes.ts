import type { AssistantMessage, Message, ToolMessage } from '../../trajectory/message.js';
import type { BranchReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { GenerationResult, SequenceBranch, TrainingSequence } from '../model/policy.js';
import type { TextCodec } from '../text/textCodec.js';

/** Nodes of a trajectory while it is played: each is the child of the one before, until a new branch starts. */
export class NodePath {
  readonly nodes: TrajectoryNode[] = [];
  /** Indices of the nodes from the root to the present one. */
  private path: number[] = [];
  /** Tokens that the policy sees next. */
  tokens = 0;
  /** Sampled tokens of all branches. */
  sampledTokens = 0;
  /** Tokens that a server counted and whose ids are not known. */
  untoldTokens = 0;

  /** Tokens of all branches, what they share counted once. */
  get allTokens(): number {
    return this.untoldTokens + this.toldTokens;
  }

  /** Those of them whose ids are known. */
  get toldTokens(): number {
    return this.nodes.reduce((sum, node) => sum + node.tokenIds.length, 0);
  }

  /** Begins with recorded nodes; the policy goes on behind the last of them. Only for an empty path. */
  static behind(nodes: readonly TrajectoryNode[]): NodePath {
    const path = new NodePath();
    path.nodes.push(...nodes);
    for (let at: number | null = nodes.length - 1; at !== null; at = nodes[at]!.parent) path.path.unshift(at);
    path.tokens = path.path.reduce((sum, index) => sum + nodes[index]!.tokenIds.length, 0);
    path.sampledTokens = nodes.reduce(
      (sum, { actionMask }) => sum + actionMask.reduce((ones, bit) => ones + bit, 0),
      0,
    );
    return path;
  }

  /** Tokens that the policy did not sample: mask 0. */
  addGiven(message: Message, tokenIds: Int32Array, branch?: BranchReason): void {
    const unknown = new Float32Array(tokenIds.length).fill(NaN);
    const actionMask = new Uint8Array(tokenIds.length);
    const reason = branch === undefined ? {} : { branch };
    this.add({ message, ...reason, tokenIds, actionMask, logprobs: unknown, entropies: unknown });
  }

  /**
   * A sampled turn: mask 1 on every token, the stop token included.
   * @param forced ids that the turn was made to begin with: mask 0, since nobody sampled them
   */
  addSampled(
    message: AssistantMessage,
    { tokenIds, logprobs, entropies }: GenerationResult,
    forced?: Int32Array,
  ): void {
    const sampled = { tokenIds, actionMask: new Uint8Array(tokenIds.length).fill(1), logprobs, entropies };
    this.add({ message, ...(forced === undefined ? sampled : behindForced(sampled, forced)) });
    this.sampledTokens += tokenIds.length;
  }

  /** Goes on from other ids: whole nodes that agree are shared, one node holds the rest. */
  startBranch(reason: BranchReason, tokenIds: Int32Array, textOf: (tokenIds: Int32Array) => string): void {
    let shared = 0;
    const kept = this.path.findIndex((index) => {
      const node = this.nodes[index]!.tokenIds;
      const agrees = node.every((id, i) => id === tokenIds[shared + i]);
      if (agrees) shared += node.length;
      return !agrees;
    });
    if (kept >= 0) this.path = this.path.slice(0, kept);
    this.tokens = shared;
    const rest = tokenIds.slice(shared);
    if (rest.length > 0) this.addGiven({ role: 'user', content: textOf(rest) }, rest, reason);
  }

  /** The ids that the policy sees next. */
  tokenIds(): Int32Array {
    return concatenate(this.path.map((index) => this.nodes[index]!.tokenIds));
  }

  private add(node: Omit<TrajectoryNode, 'parent'>): void {
    this.nodes.push({ parent: this.path.at(-1) ?? null, ...node });
    this.path.push(this.nodes.length - 1);
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

/** The nodes that a trajectory does not share with the one that it leaves. */
export const ownNodes = ({ nodes, origin }: Pick<Trajectory, 'nodes' | 'origin'>) => nodes.slice(origin?.nodes ?? 0);

/** The masks of what is learned from: of a branch only its own nodes, since the shared ones are the other trajectory's. */
export function learnedMasks({ nodes, origin }: Pick<Trajectory, 'nodes' | 'origin'>): Uint8Array[] {
  const shared = origin?.nodes ?? 0;
  return nodes.map(({ actionMask }, index) => (index < shared ? new Uint8Array(actionMask.length) : actionMask));
}

/**
 * The trajectory's tokens for the learner, laid end to end up to its last sampled token: what follows cannot be learned
 * from. Where the trajectory branches, each branch is a sequence of its own.
 */
export function trainingSequence(trajectory: Pick<Trajectory, 'nodes' | 'origin'>): TrainingSequence {
  const { nodes } = trajectory;
  const masks = learnedMasks(trajectory);
  const actionMask = concatenateBytes(masks);
  const end = actionMask.lastIndexOf(1) + 1;
  const isTree = nodes.some(({ parent }, index) => index > 0 && parent !== index - 1);
  return {
    tokenIds: concatenate(nodes.map((node) => node.tokenIds)).subarray(0, end),
    actionMask: actionMask.subarray(0, end),
    ...(isTree ? { branches: branchesOf(nodes, masks) } : {}),
  };
}

/** Every way from the root to a leaf that holds a sampled token of its own, up to the last of them. */
function branchesOf(nodes: readonly TrajectoryNode[], nodeMasks: readonly Uint8Array[]): SequenceBranch[] {
  const starts: number[] = [];
  let tokens = 0;
  for (const { tokenIds } of nodes) {
    starts.push(tokens);
    tokens += tokenIds.length;
  }
  const parents = new Set(nodes.map(({ parent }) => parent));
  const learned = new Set<number>();
  return nodes.flatMap((_, leaf) => {
    if (parents.has(leaf)) return [];
    const path: number[] = [];
    for (let at: number | null = leaf; at !== null; at = nodes[at]!.parent) path.unshift(at);
    const isNew = (index: number) => !learned.has(index) && nodeMasks[index]!.includes(1);
    const last = path.findLastIndex(isNew);
    if (last < 0) return [];
    const taken = path.slice(0, last + 1);
    const masks = taken.map((index) => {
      const mask = nodeMasks[index]!;
      return isNew(index) ? mask : new Uint8Array(mask.length);
    });
    for (const index of taken) learned.add(index);
    const positions = taken.flatMap((index) => Array.from(nodes[index]!.tokenIds, (_id, i) => starts[index]! + i));
    return [{ positions: Int32Array.from(positions), actionMask: concatenateBytes(masks) }];
  });
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

function behindForced(
  sampled: Pick<TrajectoryNode, 'tokenIds' | 'actionMask' | 'logprobs' | 'entropies'>,
  forced: Int32Array,
): Omit<TrajectoryNode, 'parent' | 'message'> {
  const unknown = Array.from(forced, () => NaN);
  return {
    forced: forced.length,
    tokenIds: concatenate([forced, sampled.tokenIds]),
    actionMask: concatenateBytes([new Uint8Array(forced.length), sampled.actionMask]),
    logprobs: Float32Array.from([...unknown, ...sampled.logprobs]),
    entropies: Float32Array.from([...unknown, ...sampled.entropies]),
  };
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
