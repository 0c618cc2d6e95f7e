import type { Task } from '../../trajectory/task.js';
import type { BranchOrigin, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { Judge } from '../judge/judge.js';
import type { ShapingSettings } from '../run/shapingSettings.js';

export interface SamplingOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  /** Text that ends a turn, beside what the policy's tool format asks for. */
  readonly stopStrings: readonly string[];
  /** Only turns with valid calls are sampled. */
  readonly constrainedCalls?: boolean;
  /** When the context counts as full: from a share of it on, or where one more turn as long as the longest might not fit. */
  readonly contextThreshold: 'share' | 'dynamic';
  readonly contextShare: number;
  /** Where it is full, older observations are left out, all but so many; 0 keeps all. */
  readonly keptObservations: number;
  /** Where it is full (still), the policy sums up its progress and goes on from that alone. */
  readonly contextSummary: boolean;
  /** Commands of episodes that run side by side; the others wait, and sampling goes on meanwhile. */
  readonly commandSlots: number;
  readonly maxTokensPerTurn: number;
  /** Seconds that the episode's commands may take together. */
  readonly episodeSeconds: number;
  /** What the way adds to the grade of the end; absent: nothing. */
  readonly shaping?: ShapingSettings;
  /** Who else has a say in the reward; absent: nobody. */
  readonly judge?: Judge;
}

/** What an episode repeats before its policy has a say: the recorded nodes of another one. */
export interface EpisodePrefix {
  readonly origin: BranchOrigin;
  readonly nodes: readonly TrajectoryNode[];
}

/** Which episode to play. Everything random in it comes from `seed`. */
export interface EpisodePlan {
  readonly id: string;
  readonly kind: 'rollout' | 'evaluation' | 'demonstration';
  readonly step: number;
  readonly task: Task;
  readonly sample: number;
  readonly seed: number;
  /** In place of the temperature of all. */
  readonly temperature?: number;
  /** Probability with which a turn is made to begin with the call of a tool (forcedTool.ts); absent: 0. */
  readonly toolEpsilon?: number;
  /** What its prompt tells of earlier attempts of the task. */
  readonly lessons?: readonly string[];
  /** Set where the episode is a branch of another one. */
  readonly prefix?: EpisodePrefix;
}
