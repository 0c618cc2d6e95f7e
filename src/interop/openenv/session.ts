import { setMaxListeners } from 'node:events';
import type { Arena, ArenaEpisode, Outcome } from '../../trainer/rollout/arena.js';
import { taskDigest, type PlayTerms } from '../../trainer/workers/playTerms.js';
import type { Message } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { StopReason } from '../../trajectory/trajectory.js';
import { messageOf, ProtocolError, type Action, type Observation, type Reset, type State } from './messages.js';

/** Where episodes are played, and how many seconds their commands may take together, as in a rollout here. */
export interface Grounds {
  readonly arena: Arena;
  readonly episodeSeconds: number;
}

export interface SessionOptions {
  /** By a trainer's terms; else (null) by the settings of this repository. */
  readonly groundsOf: (terms: PlayTerms | null) => Grounds;
  readonly chooseTask: (reset: Reset) => Task;
}

interface Play {
  readonly id: string;
  readonly task: Task;
  readonly episode: ArenaEpisode;
  /** Whether a trainer of ours plays, who wants to know more than OpenEnv's contract has. */
  readonly isTrainer: boolean;
  milliseconds: number;
  steps: number;
  done: boolean;
  /** The last answer, once the episode is graded. */
  ended: Observation | null;
}

/** One client's plays, one after the other, each in its own worktree. Its calls must not overlap. */
export class Session {
  private play: Play | null = null;
  /** What is being done for the client right now. */
  private running: Promise<unknown> = Promise.resolve();
  private readonly ending = new AbortController();

  constructor(
    readonly id: string,
    private readonly options: SessionOptions,
  ) {
    setMaxListeners(0, this.ending.signal);
  }

  /** Starts a fresh episode; the one before it is thrown away. */
  reset(reset: Reset): Promise<Observation> {
    return this.track(this.start(reset));
  }

  /** Plays one turn. The last one is answered with the grade, which is the reward. */
  step(action: Action): Promise<Observation> {
    return this.track(action.finish ? this.endAsItStands() : this.playTurn(action));
  }

  state(): State {
    const { play } = this;
    return {
      episode_id: play?.id ?? null,
      step_count: play?.steps ?? 0,
      task_id: play?.task.instance_id ?? null,
      done: play?.done ?? false,
    };
  }

  /** Stops what is being played, and deletes its worktree once nothing runs in it. Safe to call twice. */
  async dispose(): Promise<void> {
    this.ending.abort();
    await this.running.catch(() => undefined);
    await this.endPlay();
  }

  private track<T>(work: Promise<T>): Promise<T> {
    this.running = work;
    return work;
  }

  private async start(reset: Reset): Promise<Observation> {
    const task = this.options.chooseTask(reset);
    const terms = reset.whetstone ?? null;
    if (terms !== null && terms.task !== taskDigest(task)) {
      throw new ProtocolError('VALIDATION_ERROR', `The task ${task.instance_id} is another one here.`);
    }
    const { arena, episodeSeconds } = this.options.groundsOf(terms);
    await this.endPlay();
    const episode = await arena.startEpisode(task, this.ending.signal);
    if (this.ending.signal.aborted) {
      await episode.dispose();
      throw new ProtocolError('SESSION_ERROR', 'The session has ended.');
    }
    this.play = {
      id: reset.episode_id ?? crypto.randomUUID(),
      task,
      episode,
      isTrainer: terms !== null,
      milliseconds: 1000 * episodeSeconds,
      steps: 0,
      done: false,
      ended: null,
    };
    const { prompt, tools } = episode;
    return answer(task, prompt, { tools: tools.map((tool) => ({ ...tool })) });
  }

  private async playTurn(action: Action): Promise<Observation> {
    const { play } = this;
    if (play === null) throw new ProtocolError('EXECUTION_ERROR', 'There is no episode yet: send a reset first.');
    if (play.done) throw new ProtocolError('EXECUTION_ERROR', 'The episode is over: send a reset.');
    play.steps += 1;
    const played = await this.withinTime(play, (signal) => play.episode.step(messageOf(action), signal));
    const stopReason: StopReason | null =
      played?.stopReason ?? (played === null || play.milliseconds <= 0 ? 'time-limit' : null);
    const observations = played?.observations ?? [];
    if (stopReason === null) return answer(play.task, observations, { metadata: countersOf(play) });
    return this.grade(play, observations, stopReason);
  }

  private async endAsItStands(): Promise<Observation> {
    const { play } = this;
    if (play?.ended) return play.ended;
    if (play === null || play.done) throw new ProtocolError('EXECUTION_ERROR', 'There is no episode: send a reset.');
    return this.grade(play, [], null);
  }

  private async grade(
    play: Play,
    observations: readonly Message[],
    stopReason: StopReason | null,
  ): Promise<Observation> {
    play.done = true;
    const outcome = await play.episode.finish(this.ending.signal);
    const metadata = play.isTrainer ? { counters: outcome.counters, patch: outcome.patch } : {};
    play.ended = answer(play.task, observations, { stopReason, outcome, metadata });
    return play.ended;
  }

  /** Null where the episode's time was up. */
  private async withinTime<T>(play: Play, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const time = AbortSignal.timeout(Math.max(1, Math.ceil(play.milliseconds)));
    const limited = AbortSignal.any([this.ending.signal, time]);
    setMaxListeners(0, limited);
    const started = performance.now();
    try {
      return await work(limited);
    } catch (error) {
      if (time.aborted && !this.ending.signal.aborted) return null;
      throw error;
    } finally {
      play.milliseconds -= performance.now() - started;
    }
  }

  private async endPlay(): Promise<void> {
    const { play } = this;
    this.play = null;
    await play?.episode.dispose();
  }
}

const countersOf = (play: Play) => (play.isTrainer ? { counters: play.episode.statistics() } : {});

function answer(
  task: Task,
  messages: readonly Message[],
  {
    tools,
    stopReason = null,
    outcome = null,
    metadata = {},
  }: {
    tools?: Record<string, unknown>[];
    stopReason?: StopReason | null;
    outcome?: Outcome | null;
    metadata?: Record<string, unknown>;
  },
): Observation {
  return {
    observation: {
      task_id: task.instance_id,
      messages: messages.map((message) =>
        message.role === 'tool'
          ? { role: 'tool', content: message.content, name: message.name, tool_call_id: message.toolCallId }
          : { role: message.role, content: message.content },
      ),
      ...(tools === undefined ? {} : { tools }),
      stop_reason: stopReason,
      grade: outcome === null ? null : { ...outcome.grade },
      metadata,
    },
    reward: outcome?.grade.reward ?? null,
    done: outcome !== null,
  };
}
