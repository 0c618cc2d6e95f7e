import { cancelled, failed } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { AssistantMessage, ToolMessage } from '../../trajectory/message.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { Arena, EpisodePlan, SamplingOptions } from '../rollout/arena.js';
import { beginningOf, withoutTokens, type Dialogue, type Opening } from '../rollout/dialogue.js';
import type { NodePath } from '../rollout/nodes.js';
import { playEpisode } from '../rollout/playEpisode.js';
import { thinking, toolCall } from '../warmStart/turnText.js';

/** What a person does in a turn: one call of a tool, and what they think of it, which may be empty. */
export interface PersonAction {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly thought: string;
}

/** What came of an action. */
export interface PersonStep {
  readonly observations: readonly ToolMessage[];
  /** The whole episode, graded, where it is over; null while it goes on. */
  readonly trajectory: Trajectory | null;
}

/**
 * An episode that a person plays, turn by turn as they act: by the same tools, under the same limits, in the same sandbox as
 * a policy, and graded like one's. What they do is recorded as messages; a policy that learns from it writes them in its
 * own tokens.
 */
export class PersonEpisode {
  private give: ((message: AssistantMessage) => void) | null = null;
  private readonly said: AssistantMessage[] = [];
  private observations: readonly ToolMessage[] = [];
  private waits: () => void = () => undefined;
  private readonly played: Promise<Trajectory>;
  private opening: Opening | null = null;

  private constructor(arena: Arena, plan: EpisodePlan, options: SamplingOptions, signal: AbortSignal) {
    const converse = (opening: Opening) => {
      this.opening = opening;
      return new PersonDialogue(opening, (turn) => this.turn(turn, signal), this.observed);
    };
    this.played = playEpisode({ policyStep: 0, converse }, arena, plan, options, signal);
    this.played.catch(() => undefined);
  }

  /**
   * Opens the worktree and goes to where the plan's prefix ends; resolves when it is the person's turn. Throws
   * `infrastructure`'s line as failed where the machine fails, or the tools answer otherwise than recorded.
   */
  static async open(
    arena: Arena,
    plan: EpisodePlan,
    options: SamplingOptions,
    signal: AbortSignal,
  ): Promise<PersonEpisode> {
    const episode = new PersonEpisode(arena, plan, options, signal);
    const ended = await episode.nextStop();
    if (ended === null) return episode;
    const { infrastructureError: message, infrastructurePhrase: phrase } = ended;
    throw failed(message === null ? say`The episode ended before it began.` : { message, phrase }, '');
  }

  /** What the person can call. */
  get tools() {
    return this.opening?.tools ?? [];
  }

  /** Plays one turn. Throws failed where the episode is over already, `cancelled` where it was given up. */
  async act({ tool, arguments: args, thought }: PersonAction): Promise<PersonStep> {
    if (this.give === null) throw failed('The episode is over.', 'Begin another one.');
    const raw = `${thought === '' ? '' : thinking(thought)}${toolCall(tool, args)}`;
    const message: AssistantMessage = {
      role: 'assistant',
      content: '',
      ...(thought === '' ? {} : { thinking: thought }),
      toolCalls: [{ id: 'call-0', name: tool, arguments: args }],
      raw,
    };
    const { give } = this;
    this.give = null;
    this.observations = [];
    const stop = this.nextStop();
    this.said.push(message);
    give(message);
    const trajectory = await stop;
    return { observations: this.observations, trajectory };
  }

  /** Resolves to null when the next turn is the person's, else to the episode, which is over. */
  private nextStop(): Promise<Trajectory | null> {
    const waiting = new Promise<null>((resolve) => {
      this.waits = () => resolve(null);
    });
    return Promise.race([waiting, this.played]);
  }

  /** An episode that the machine failed is begun once more: then what was said already is said again. */
  private turn(index: number, signal: AbortSignal): Promise<AssistantMessage> {
    if (index < this.said.length) return Promise.resolve(this.said[index]!);
    return new Promise((resolve, reject) => {
      const abort = () => reject(cancelled());
      signal.addEventListener('abort', abort, { once: true });
      this.give = (message) => {
        signal.removeEventListener('abort', abort);
        resolve(message);
      };
      if (signal.aborted) abort();
      this.waits();
    });
  }

  private readonly observed = (observations: readonly ToolMessage[]) => {
    this.observations = observations;
  };
}

/** Says what the person does, when they do it. */
class PersonDialogue implements Dialogue {
  readonly path: NodePath;
  private turns = 0;

  constructor(
    opening: Opening,
    private readonly turn: (index: number) => Promise<AssistantMessage>,
    private readonly observed: (observations: readonly ToolMessage[]) => void,
  ) {
    this.path = beginningOf(opening, () => withoutTokens(opening.prompt)).path;
  }

  async next(): Promise<AssistantMessage> {
    const message = await this.turn(this.turns++);
    const none = new Float32Array(0);
    this.path.addSampled(message, {
      tokenIds: new Int32Array(0),
      logprobs: none,
      entropies: none,
      finishReason: 'stop',
    });
    return message;
  }

  observe(observations: readonly ToolMessage[]): void {
    for (const message of observations) this.path.addGiven(message, new Int32Array(0));
    this.observed(observations);
  }

  end(): void {
    // There is nothing to give back.
  }
}
