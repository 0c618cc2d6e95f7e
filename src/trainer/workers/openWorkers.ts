import { badInput, cancelled, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Worker, Workers } from './workerArena.js';
import { workerFactsSchema } from './workerFrames.js';
import { WorkerPool, type PoolLimits } from './workerPool.js';
import type { ConnectionLimits } from './workerConnection.js';

export type WorkerLimits = ConnectionLimits & PoolLimits;

const defaultLimits: WorkerLimits = {
  connectMs: 10_000,
  pingMs: 5_000,
  firstBackOffMs: 1_000,
  longestBackOffMs: 60_000,
  patienceMs: 120_000,
};

/**
 * Asks every worker what it is, and shows it WHETSTONE_TOKEN. Throws bad-input where one refuses the token or is none of ours, or where one is not
 * reached: a run should not begin with fewer workers than it was given.
 * @param report told in one line when a worker is lost and when it is back
 */
export async function openWorkers(
  urls: readonly string[],
  report: (line: string) => void,
  signal: AbortSignal,
  limits: WorkerLimits = defaultLimits,
): Promise<Workers> {
  // Never in a settings file, nor in the record of a run.
  const token = process.env.WHETSTONE_TOKEN?.trim() || null;
  const bases = [...new Set(urls.map((url) => url.replace(/\/+$/, '')))];
  const all = await Promise.all(bases.map((url) => askWorker(url, token, limits.connectMs, signal)));
  return { all, pool: new WorkerPool(all, limits, report), limits };
}

async function askWorker(url: string, token: string | null, ms: number, signal: AbortSignal): Promise<Worker> {
  try {
    const response = await fetch(`${url}/metadata`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      // The token is for this address alone.
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
    });
    if (response.status === 401) {
      throw badInput(
        token === null ? say`The worker ${url} wants a token.` : say`The worker ${url} refuses the token.`,
        'Set WHETSTONE_TOKEN to the one that it was started with.',
      );
    }
    const facts = workerFactsSchema.safeParse(await response.json().catch(() => null));
    if (!facts.success) {
      throw badInput(
        say`${url} is no worker of this version of Whetstone (status ${response.status}).`,
        'Give the address that `whetstone serve --openenv` prints there.',
      );
    }
    const { sessions, sandbox } = facts.data.whetstone;
    return { url, token, sessions, sandbox };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (error instanceof WhetstoneError) throw error;
    const { cause, message } = error as Error & { cause?: { code?: string } };
    throw badInput(
      say`The worker ${url} cannot be reached (${cause?.code ?? message}).`,
      'Start it, or leave it out.',
      error,
    );
  }
}
