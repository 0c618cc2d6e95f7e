import { spawn, type ChildProcess } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cancelled, failed, infrastructure, WhetstoneError, type ErrorKind } from '../../trajectory/errors.js';
import { say, saidOf, type Said } from '../../trajectory/said.js';
import { openRun, type RunReader } from '../run/runReader.js';
import { runPaths } from '../run/runDirectory.js';
import type { RunStatus } from '../run/runRecord.js';
import { readLines } from './lines.js';
import { cleanUpAfterKilled, readProcessRecord } from './processRecord.js';
import {
  serverMessageSchema,
  startReportSchema,
  type ClientMessage,
  type ProcessRecord,
  type StartReport,
  type TrainingRequest,
} from './protocol.js';

/** How a run stands when its process is gone, and its last word; `errorKind` where it failed. */
export interface TrainingEnd extends Said {
  readonly status: RunStatus;
  readonly errorKind?: ErrorKind;
}

/** A training in a background process, as its starter or a later visitor holds it. */
export interface TrainingHandle {
  readonly runId: string;
  readonly runFolder: string;
  readonly pid: number;
  /** Wishes; the run's events say when they have come true. Nothing happens where the process is gone. */
  stop(): void;
  pause(): void;
  resume(): void;
  /** Calls the listener whenever something new was written to the run directory. */
  onChanged(listener: () => void): { dispose(): void };
  /** Settles when the process is gone. Never rejects. */
  readonly exited: Promise<TrainingEnd>;
  /** Lets go of the process without stopping it (an attached one stops, as its owner is gone). */
  dispose(): void;
}

export type StartOptions = TrainingRequest & {
  /** The bundle of the background process; by default the one beside this bundle. */
  readonly backgroundPath?: string;
};

const bundleBesideThis = () => path.join(path.dirname(fileURLToPath(import.meta.url)), 'background.cjs');
/** The process computes in its one thread, so its answer may take a while; but not for ever. */
const answerMilliseconds = 60_000;

/**
 * Starts a training and resolves once it has its run directory; where it refuses (not a repository, a training already
 * runs, ...) rejects with its WhetstoneError, kind and line kept. `signal` gives the start up.
 */
export async function startTraining(options: StartOptions, signal?: AbortSignal): Promise<TrainingHandle> {
  const { backgroundPath = bundleBesideThis(), ...request } = options;
  if (signal?.aborted) throw cancelled();
  const detached = request.owner === 'detached';
  const child = spawn(process.execPath, [backgroundPath], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached,
    windowsHide: true,
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  });
  const giveUp = () => child.kill();
  signal?.addEventListener('abort', giveUp);
  try {
    child.stdin.on('error', () => undefined);
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const report = await startReport(child);
    if (report.type === 'refused') throw new WhetstoneError(report.kind, report.words, report.remedy);
    const stateFolder = path.dirname(path.dirname(report.runFolder));
    const record = await readProcessRecord(report.runFolder);
    const connection = record && (await connect(record));
    if (detached) {
      child.stdin.end();
      child.unref();
    }
    if (connection === null || record === null) {
      if (!detached) child.stdin.end();
      throw infrastructure(
        say`The training ${report.runId} started and cannot be reached.`,
        say`See ${runPaths(report.runFolder).log}.`,
      );
    }
    return handleOf(stateFolder, report.runId, record, connection, detached ? null : child);
  } finally {
    signal?.removeEventListener('abort', giveUp);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Finds the process of a run again; null where it does not run. Throws bad-input where there is no such run. */
export async function connectToRun(stateFolder: string, runId: string): Promise<TrainingHandle | null> {
  const { paths } = openRun(stateFolder, runId);
  const record = await readProcessRecord(paths.folder);
  const connection = record && (await connect(record));
  if (connection === null) await cleanUpAfterKilled(stateFolder);
  return connection && record && handleOf(stateFolder, runId, record, connection, null);
}

/** What the process says first. Its standard error until then explains a start that failed. */
function startReport(child: ChildProcess): Promise<StartReport> {
  return new Promise((resolve, reject) => {
    let errors = '';
    child.stderr!.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
    child.once('error', (error) =>
      reject(infrastructure(say`The background process did not start (${error.message}).`, 'Reinstall.', error)),
    );
    child.once('close', (code, signal) =>
      reject(
        failed(say`The background process ended at its start (${String(signal ?? code)}).`, errors.trim().slice(-500)),
      ),
    );
    readLines(child.stdout!, (line) => {
      try {
        resolve(startReportSchema.parse(JSON.parse(line)));
      } catch (error) {
        reject(failed(say`The background process said ${JSON.stringify(line.slice(0, 200))}.`, 'Reinstall.', error));
      }
    });
  });
}

/** Connects and shows the token; null where nobody (or somebody else) answers. */
function connect(record: ProcessRecord): Promise<net.Socket | null> {
  return new Promise((resolve) => {
    const socket = net.connect(record.socket);
    const timer = globalThis.setTimeout(() => settle(null), answerMilliseconds);
    const settle = (connection: net.Socket | null) => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on('error', () => undefined);
      if (connection === null) socket.destroy();
      resolve(connection);
    };
    socket.once('error', () => settle(null));
    socket.once('close', () => settle(null));
    socket.once('connect', () => send(socket, { type: 'hello', token: record.token }));
    // The welcome is one short line; it comes in one piece.
    socket.once('data', (chunk: Buffer) => {
      const welcome = parseServerMessage(chunk.toString().split('\n')[0]);
      settle(welcome?.type === 'welcome' && welcome.pid === record.pid ? socket : null);
    });
  });
}

function handleOf(
  stateFolder: string,
  runId: string,
  record: ProcessRecord,
  socket: net.Socket,
  attached: ChildProcess | null,
): TrainingHandle {
  const run = openRun(stateFolder, runId);
  const listeners = new Set<() => void>();
  let lastWord: TrainingEnd | null = null;
  readLines(socket, (line) => {
    const message = parseServerMessage(line);
    if (message?.type === 'changed') for (const listener of [...listeners]) listener();
    if (message?.type === 'ended') {
      lastWord = { status: 'failed', ...saidOf(message), errorKind: message.errorKind };
    }
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const ended =
    attached === null || attached.exitCode !== null || attached.signalCode !== null
      ? closed
      : new Promise<void>((resolve) => attached.once('exit', () => resolve()));
  return {
    runId,
    runFolder: run.paths.folder,
    pid: record.pid,
    stop: () => send(socket, { type: 'stop' }),
    pause: () => send(socket, { type: 'pause' }),
    resume: () => send(socket, { type: 'resume' }),
    onChanged(listener) {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    exited: ended
      .then(() => endOf(run))
      .then(async (end) => {
        await cleanUpAfterKilled(stateFolder);
        return end;
      })
      // What the record could not take was said here; it counts unless the record says how it ended.
      .then((end) => (end.status === 'interrupted' && lastWord !== null ? lastWord : end))
      .catch((error: Error): TrainingEnd => ({ status: 'failed', ...saidOf(error) })),
    dispose() {
      listeners.clear();
      socket.destroy();
      attached?.stdin?.end();
    },
  };
}

async function endOf(run: RunReader): Promise<TrainingEnd> {
  // A socket closes a moment before its process is gone and the lock is seen to be free.
  for (let tries = 0; tries < 50; tries++) {
    const { status } = await run.summary();
    if (status !== 'running' && status !== 'paused') break;
    await setTimeout(100);
  }
  const { status, message, phrase } = await run.summary();
  const finished = (await run.events()).filter((event) => event.type === 'finished').at(-1);
  return { status, message, phrase, errorKind: status === 'failed' ? finished?.errorKind : undefined };
}

function send(socket: net.Socket, message: ClientMessage): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

function parseServerMessage(line: string) {
  try {
    return serverMessageSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
