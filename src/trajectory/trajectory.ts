import type { Phrase } from './said.js';
import type { Grade } from './grade.js';
import type { Message } from './message.js';
import type { TaskSplit } from './task.js';

/**
 * Why the policy was shown its history anew: the chat template would rewrite it, older observations were left out for want
 * of room, or it was asked for a summary (and then goes on from that alone).
 */
export type BranchReason = 'template' | 'window' | 'summary';

/**
 * A message node of the trajectory tree. Along a path from the root, the nodes' tokens laid end to end are exactly the
 * ids that the policy saw and sampled. All arrays of a node are aligned with `tokenIds`.
 */
export interface TrajectoryNode {
  /** Index of the parent in the trajectory's `nodes`; null at the root. */
  readonly parent: number | null;
  readonly message: Message;
  /**
   * Set on the node that opens a new branch: its tokens are the rest of the history as it is shown from here on, none of
   * them sampled here, and its message is their text.
   */
  readonly branch?: BranchReason;
  /**
   * Set where exploration chose the turn's tool: so many of its first tokens, the opening of the call, were given to the policy,
   * which went on behind them. They were not sampled, so their mask is 0.
   */
  readonly forced?: number;
  /** Ids that this node adds: [tokens]. */
  readonly tokenIds: Int32Array;
  /** 1 where the policy sampled the token, 0 elsewhere: [tokens]. */
  readonly actionMask: Uint8Array;
  /** Sampler's log-probability; NaN where the token was not sampled: [tokens]. */
  readonly logprobs: Float32Array;
  /** Entropy in nats of the distribution the token was sampled from; NaN where it was not sampled: [tokens]. */
  readonly entropies: Float32Array;
}

export type StopReason =
  'submitted' | 'no-tool-call' | 'turn-limit' | 'token-limit' | 'time-limit' | 'cancelled' | 'error';

/** Counters of one episode, for the reward and the metrics. */
export interface EpisodeStatistics {
  readonly turns: number;
  readonly toolCalls: Readonly<Record<string, number>>;
  readonly malformedCalls: number;
  readonly unknownTools: number;
  readonly invalidArguments: number;
  /** Tool calls that were valid: known tool, arguments fit the schema. */
  readonly validCalls: number;
  /** What was dangerous about commands that were run: short phrases, one for each time. Absent in older records. */
  readonly dangerousCommands?: readonly string[];
  readonly sampledTokens: number;
  readonly totalTokens: number;
  readonly seconds: number;
}

/** Where a rollout leaves another one of the same run, whose actions it repeated up to there. */
export interface BranchOrigin {
  readonly trajectoryId: string;
  /** Turns that both have in common; 0 where only the prompt is. */
  readonly turn: number;
  /** The first so many nodes are those of the other trajectory, the same in every array. */
  readonly nodes: number;
  /** Who played on, in words: a checkpoint's folder, a model, `expert`. */
  readonly policy: string;
}

/** Of what a failed rollout did, seen as a smaller task that it solved: the tests that it mended became its goal. */
export interface Hindsight {
  readonly trajectoryId: string;
  /** The task that it had failed. */
  readonly taskId: string;
  /** The failing tests that it was given in hindsight. */
  readonly goal: readonly string[];
}

/** The record of one episode. */
export interface Trajectory {
  /** Unique in its run, e.g. `step-000003/task-id/2` for a rollout, `eval-000000/task-id/0` for an evaluation. */
  readonly id: string;
  readonly kind: 'rollout' | 'evaluation' | 'demonstration';
  readonly step: number;
  readonly taskId: string;
  readonly split: TaskSplit;
  /** Index of the rollout in its group. */
  readonly sample: number;
  readonly seed: number;
  readonly temperature: number;
  /**
   * Set where its turns were sampled under the grammar of valid calls: log-probs and entropies are those of that distribution,
   * which the learner's are not.
   */
  readonly constrained?: true;
  /** The optimizer step whose weights sampled it. */
  readonly policyStep: number;
  readonly sandbox: string;
  /** Set where it is a branch. Only what comes behind the shared nodes is its own to learn from. */
  readonly origin?: BranchOrigin;
  /** Set where a failure was relabelled; then `taskId` is that of the smaller task, and nothing was played. */
  readonly hindsight?: Hindsight;
  readonly nodes: readonly TrajectoryNode[];
  readonly stopReason: StopReason;
  /** Set where the machine failed; then `grade` is null and the trajectory is left out of its group. */
  readonly infrastructureError: string | null;
  /** What a translation of that is found by. */
  readonly infrastructurePhrase?: Phrase;
  readonly grade: Grade | null;
  /** What the policy changed: a unified diff against the start tree. */
  readonly patch: string;
  readonly statistics: EpisodeStatistics;
}

/** What the learner found out about a trajectory when it trained on it; aligned with its tokens laid end to end. */
export interface LearnedTokens {
  readonly trajectoryId: string;
  readonly step: number;
  readonly advantages: Float32Array;
  readonly learnerLogprobs: Float32Array;
  readonly referenceLogprobs: Float32Array;
  /** dL/dlogp of each token as given to the backward pass. */
  readonly coefficients: Float32Array;
}
