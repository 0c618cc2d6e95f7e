import type { z } from 'zod';
import type { EpisodeCounters } from '../../env/episodeTypes.js';
import { compositeProblem, type RewardWeights } from '../../env/reward/composite.js';
import { badInput, cancelled, infrastructure, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { AssistantMessage, SystemMessage, ToolSchema, UserMessage } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Arena, ArenaEpisode, Outcome } from '../rollout/arena.js';
import type { Settings } from '../run/settings.js';
import { playTerms } from './playTerms.js';
import { WorkerConnection, WorkerRefusal, type ConnectionLimits, type WorkerAddress } from './workerConnection.js';
import { finishFrame, openingSchema, playedSchema, stepFrame, type Played } from './workerFrames.js';
import type { Lease, PooledWorker, WorkerPool } from './workerPool.js';

export interface Worker extends WorkerAddress, PooledWorker {
  readonly sandbox: string;
}

/** Workers that a run plays on, as long as it lasts. */
export interface Workers {
  readonly all: readonly Worker[];
  readonly pool: WorkerPool<Worker>;
  readonly limits: ConnectionLimits;
}

/** So many machines of workers may fail to begin an episode before the fault is looked for in its task. */
const mostFailedStarts = 3;
/** So long an episode waits for a session that other trainers have taken. */
const longestWaitMs = 900_000;
const full = 'CAPACITY_REACHED';
/** What a worker may take beyond the times that the settings give: worktrees, diffs, the way there and back. */
const marginMs = 60_000;

/**
 * The environment's side of rollouts on workers, by the run's own limits, reward and words. An episode whose worker is lost
 * fails as one whose machine fails here: it is played once more, elsewhere.
 */
export function workerArena(workers: Workers, settings: Settings, callExample?: string): Arena {
  return {
    sandbox: sandboxOf(workers),
    async startEpisode(task, signal) {
      const since = performance.now();
      for (let failedStarts = 0; ;) {
        const lease = await workers.pool.acquire(signal);
        try {
          return await begin(lease, task, settings, callExample, workers.limits, signal);
        } catch (error) {
          lease.release();
          if (signal.aborted) throw cancelled();
          if (!(error instanceof WhetstoneError && error.kind === 'infrastructure')) throw error;
          const refusal = error.cause instanceof WorkerRefusal ? error.cause.data.code : null;
          // The pool says when too many are lost for too long; a worker's own word counts here.
          if (
            refusal === full ? performance.now() - since > longestWaitMs : refusal && ++failedStarts >= mostFailedStarts
          )
            throw error;
        }
      }
    },
  };
}

export const sandboxOf = ({ all }: Workers) => [...new Set(all.map(({ sandbox }) => sandbox))].join(', ');

async function begin(
  lease: Lease<Worker>,
  task: Task,
  settings: Settings,
  callExample: string | undefined,
  limits: ConnectionLimits,
  signal: AbortSignal,
): Promise<ArenaEpisode> {
  const { worker } = lease;
  let connection: WorkerConnection | null = null;
  try {
    connection = await WorkerConnection.open(worker, limits, signal);
    const whetstone = playTerms(settings, callExample, task);
    const frame = { type: 'reset', data: { task_id: task.instance_id, whetstone } };
    const { observation } = valid(openingSchema, await connection.ask(frame, marginMs, signal), worker);
    // A step may run the tests, and its answer may hold a grade: the tests twice, and a control.
    const answerMs = marginMs + 1000 * (settings.episodeSeconds + 3 * settings.testSeconds);
    lease.succeeded();
    const { messages, tools } = observation;
    return new WorkerEpisode(lease, connection, messages, tools, answerMs, settings.reward);
  } catch (error) {
    connection?.close();
    throw signal.aborted ? cancelled() : asFailureOf(lease, error, task);
  }
}

/** One episode in a worker's session. */
class WorkerEpisode implements ArenaEpisode {
  readonly root = null;
  private counters: EpisodeCounters = {
    turns: 0,
    thoughtTurns: 0,
    toolCalls: {},
    malformedCalls: 0,
    unknownTools: 0,
    invalidArguments: 0,
    validCalls: 0,
    seconds: 0,
  };
  private outcome: Outcome | null = null;

  constructor(
    private readonly lease: Lease<Worker>,
    private readonly connection: WorkerConnection,
    readonly prompt: readonly [SystemMessage, UserMessage],
    readonly tools: readonly ToolSchema[],
    private readonly answerMs: number,
    private readonly weights: RewardWeights,
  ) {}

  async step(message: AssistantMessage, signal?: AbortSignal) {
    const { observation } = await this.ask(stepFrame(message), signal);
    const observations = observation.messages.map(({ content, name, tool_call_id: toolCallId }) => ({
      role: 'tool' as const,
      toolCallId,
      name,
      content,
    }));
    return { observations, stopReason: observation.stop_reason };
  }

  statistics(): EpisodeCounters {
    return this.counters;
  }

  async finish(signal: AbortSignal): Promise<Outcome> {
    if (this.outcome === null) await this.ask(finishFrame, signal);
    if (this.outcome === null) throw this.broken('it ended an episode without a grade');
    return this.outcome;
  }

  dispose(): Promise<void> {
    this.connection.close();
    this.lease.release();
    return Promise.resolve();
  }

  private async ask(frame: object, signal?: AbortSignal): Promise<Played> {
    const { worker } = this.lease;
    try {
      const played = valid(playedSchema, await this.connection.ask(frame, this.answerMs, signal), worker);
      const { grade, metadata } = played.observation;
      this.counters = metadata.counters;
      const problem = grade && compositeProblem(grade, this.weights);
      if (problem !== null) throw notAWorker(worker, `its grade cannot be: ${problem}`);
      if (grade !== null) this.outcome = { grade, patch: metadata.patch ?? '', counters: metadata.counters };
      return played;
    } catch (error) {
      // The policy's time was up, or the user's patience.
      throw signal?.aborted ? cancelled() : asFailureOf(this.lease, error);
    }
  }

  private broken(what: string) {
    return asFailureOf(this.lease, notAWorker(this.lease.worker, what));
  }
}

function valid<T>(schema: z.ZodType<T>, data: unknown, worker: Worker): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0];
  throw notAWorker(worker, `in its answer \`${path.join('.')}\`: ${message}`);
}

const notAWorker = ({ url }: Worker, what: string) =>
  infrastructure(
    say`The worker ${url} does not keep to the protocol: ${what}.`,
    'Run the same version of Whetstone there.',
  );

/** The error for the rollout, told to the pool where it is the worker's fault. */
function asFailureOf(lease: Lease<Worker>, error: unknown, reset?: Task): Error {
  const { worker } = lease;
  if (error instanceof WorkerRefusal) {
    const { code, kind, message } = error.data;
    if (code === full) {
      lease.full();
      return infrastructure(
        say`The worker ${worker.url} has no session left.`,
        'Start it with more `--sessions`.',
        error,
      );
    }
    if (code === 'VALIDATION_ERROR' && reset !== undefined) {
      return badInput(
        say`The worker ${worker.url} does not have the task ${reset.instance_id} as it is here: ${message}`,
        'Give it the same repository and its `.whetstone/tasks`: see docs/scale.md.',
      );
    }
    const words = say`The worker ${worker.url} failed: ${message}`;
    if (kind === 'infrastructure') lease.failed(words.message);
    return infrastructure(words, 'Look at what it printed.', error);
  }
  if (error instanceof WhetstoneError && error.kind === 'infrastructure') lease.failed(error.line);
  return error as Error;
}
