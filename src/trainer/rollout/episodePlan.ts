import type { Task } from '../../trajectory/task.js';

export interface SamplingOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  /** Text that ends a turn, beside what the policy's tool format asks for. */
  readonly stopStrings: readonly string[];
  /** Share of the context from which on older observations are left out, all but the last `keptObservations`; 0 keeps all. */
  readonly contextShare: number;
  readonly keptObservations: number;
  /** Commands of episodes that run side by side; the others wait, and sampling goes on meanwhile. */
  readonly commandSlots: number;
  readonly maxTokensPerTurn: number;
  /** Seconds that the episode's commands may take together. */
  readonly episodeSeconds: number;
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
}
