import { setMaxListeners } from 'node:events';
import type { Arena } from '../../trainer/rollout/arena.js';
import type { Episode } from '../../env/episodeTypes.js';
import type { Grade } from '../../trajectory/grade.js';
import type { Message } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { StopReason } from '../../trajectory/trajectory.js';
import { messageOf, ProtocolError, type Action, type Observation, type Reset, type State } from './messages.js';

export interface SessionOptions {
  /** Seconds that an episode's commands may take together, as in a rollout here. */
  readonly episodeSeconds: number;
  readonly chooseTask: (reset: Reset) => Task;
}

interface Play {
  readonly id: string;
  readonly task: Task;
  readonly episode: Episode;
  milliseconds: number;
  steps: number;
  done: boolean;
}

/** One client's plays, one after the other, each in its own worktree. Its calls must not overlap. */
export class Session {
  private play: Play | null = null;
  /** What is being done for the client right now. */
  private running: Promise<unknown> = Promise.resolve();
  private readonly ending = new AbortController();

  constructor(
    readonly id: string,
    private readonly arena: Arena,
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
    return this.track(this.playTurn(action));
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
    await this.endPlay();
    const episode = await this.arena.startEpisode(task);
    if (this.ending.signal.aborted) {
      await episode.dispose();
      throw new ProtocolError('SESSION_ERROR', 'The session has ended.');
    }
    const milliseconds = 1000 * this.options.episodeSeconds;
    this.play = { id: reset.episode_id ?? crypto.randomUUID(), task, episode, milliseconds, steps: 0, done: false };
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
    if (stopReason === null) return answer(play.task, observations, {});
    const grade = await this.grade(play);
    return answer(play.task, observations, { stopReason, grade });
  }

  private async grade(play: Play): Promise<Grade> {
    play.done = true;
    const changes = await play.episode.changes();
    const counters = play.episode.statistics();
    // The grade has a tree of its own, and a client may wait long before it resets or leaves.
    await play.episode.dispose();
    return this.arena.grade(play.task, changes, counters, this.ending.signal);
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

function answer(
  task: Task,
  messages: readonly Message[],
  {
    tools,
    stopReason = null,
    grade = null,
  }: { tools?: Record<string, unknown>[]; stopReason?: StopReason | null; grade?: Grade | null },
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
      grade: grade === null ? null : { ...grade },
      metadata: {},
    },
    reward: grade?.reward ?? null,
    done: stopReason !== null,
  };
}
