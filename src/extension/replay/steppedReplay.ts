import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { cancelled, failed, infrastructure } from '../../trajectory/errors.js';
import { changeSchema, replayArguments, turnSchema, type ReplayRequest } from './replayProcess.js';

const steppedTurnSchema = turnSchema.omit({ call: true }).extend({
  /** For each observation, what went wrong with the call in one line; null where it went well. */
  failures: z.array(z.string().nullable()),
  /** Files changed by the end of the turn, against the start tree. */
  changes: z.array(changeSchema),
  /** Why the episode is over; null while it goes on. */
  stopReason: z.string().nullable(),
});
const openedSchema = z.object({
  task: z.string(),
  sandbox: z.string(),
  /** Recorded turns. */
  turns: z.int(),
  /** Files of the start tree, with `/`, sorted. */
  files: z.array(z.string()),
  /** What the task's oracle changes of the start tree. */
  oracle: z.array(changeSchema),
});
const nextSchema = z.object({ turn: steppedTurnSchema.nullable() });
const readSchema = z.object({ text: z.string().nullable() });
const answerSchema = z.looseObject({ id: z.int(), error: z.string().optional() });

export type SteppedTurn = z.infer<typeof steppedTurnSchema>;
export type OpenedReplay = z.infer<typeof openedSchema>;
export type FileChange = z.infer<typeof changeSchema>;

/** A replay that is stepped through: each turn is played once, forwards, when it is first asked for. */
export interface SteppedReplay {
  readonly opened: OpenedReplay;
  /** Plays the next turn; null where there is none. */
  next(): Promise<SteppedTurn | null>;
  /** Text of a file of the start tree; null where it is no text file or is not there. */
  startText(path: string): Promise<string | null>;
  /** Ends it; when this resolves, its process and its worktree are gone. */
  close(): Promise<void>;
}

const graceMilliseconds = 5000;

/** Opens a fresh worktree in a child process of the bundled command line. Rejects with what the process said. */
export async function openSteppedReplay(
  request: Omit<ReplayRequest, 'until'>,
  signal?: AbortSignal,
): Promise<SteppedReplay> {
  const child = new ReplayChild(request);
  const abort = () => void child.close();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    const opened = openedSchema.parse(await child.ask('open'));
    return {
      opened,
      next: async () => nextSchema.parse(await child.ask('next')).turn,
      startText: async (path) => readSchema.parse(await child.ask('read', { path })).text,
      close: () => child.close(),
    };
  } catch (error) {
    await child.close();
    throw signal?.aborted ? cancelled('The replay was cancelled.') : error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** The child process: one line of JSON a request, and one an answer. */
class ReplayChild {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly over: Promise<void>;
  private errors = '';
  private nextId = 1;
  /** Why no further request is answered. */
  private problem?: Error;

  constructor(request: ReplayRequest) {
    this.child = spawn(process.execPath, [request.cli, 'replay', '--stepwise', ...replayArguments(request)], {
      cwd: request.repoRoot,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      windowsHide: true,
    });
    // A process that ended takes no request any more; the end itself says why.
    this.child.stdin!.on('error', () => undefined);
    this.child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      this.errors = (this.errors + chunk).slice(-8000);
    });
    createInterface({ input: this.child.stdout!, crlfDelay: Infinity }).on('line', (line) => this.answered(line));
    this.over = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.end(infrastructure(`The replay did not start (${error.message}).`, '', error));
        resolve();
      });
      this.child.once('close', (code) => {
        const lastLine = this.errors.trim().split('\n').at(-1) ?? '';
        const line = lastLine.replace(/^whetstone: /, '') || `The replay ended with code ${code} and said nothing.`;
        this.end(failed(line, ''));
        resolve();
      });
    });
  }

  ask(method: string, fields: object = {}): Promise<unknown> {
    if (this.problem) return Promise.reject(this.problem);
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.stdin!.write(`${JSON.stringify({ id, method, ...fields })}\n`);
    });
  }

  async close(): Promise<void> {
    this.end(cancelled('The replay is over.'));
    // The end of its input ends it in order; the worktree goes with it.
    this.child.stdin!.end();
    const lastResort = setTimeout(() => this.child.kill('SIGKILL'), graceMilliseconds);
    await this.over;
    clearTimeout(lastResort);
  }

  private answered(line: string): void {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    const answer = answerSchema.safeParse(value);
    if (!answer.success) return this.end(failed('The replay gave an answer that cannot be read.', ''));
    const { id, error } = answer.data;
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(failed(error, ''));
  }

  private end(problem: Error): void {
    this.problem ??= problem;
    for (const { reject } of this.waiting.values()) reject(this.problem);
    this.waiting.clear();
  }
}
