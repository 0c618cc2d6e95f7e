import type {
  AssistantMessage,
  SystemMessage,
  ToolMessage,
  ToolSchema,
  UserMessage,
} from '../../trajectory/message.js';
import type { EpisodePlan, SamplingOptions } from './episodePlan.js';
import type { NodePath } from './nodes.js';

/** What an episode opens with. */
export interface Opening {
  readonly plan: EpisodePlan;
  readonly prompt: readonly [SystemMessage, UserMessage];
  readonly tools: readonly ToolSchema[];
  /** The episode's tree on this machine. */
  readonly root: string;
  readonly options: SamplingOptions;
}

/** One episode as who plays it sees it: turns out, observations in. */
export interface Dialogue {
  /** What is recorded so far. */
  readonly path: NodePath;
  /** The next turn; null where there is no room for one that could be answered. Throws `cancelled` where `signal` aborts. */
  next(signal: AbortSignal): Promise<AssistantMessage | null>;
  /** What the tools answered to the last turn. */
  observe(observations: readonly ToolMessage[]): void;
  end(): void;
}
