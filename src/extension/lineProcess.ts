import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { cancelled, failed, infrastructure } from '../trajectory/errors.js';
import { saidFields } from '../trajectory/saidSchema.js';
import { failureOf } from './cliProcess.js';
import { t } from './translate.js';

const answerSchema = z.looseObject({ id: z.int(), error: z.string().optional(), phrase: saidFields.phrase });
const graceMilliseconds = 5000;
const longestErrors = 64_000;

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

/** A command of the bundled command line that answers requests: one line of JSON a request, and one an answer. */
export interface LineCommand {
  /** The bundled command line. */
  readonly cli: string;
  readonly repoRoot: string;
  readonly args: readonly string[];
  /** How it is called in messages, e.g. `The replay`. */
  readonly name: string;
}

/** The process of such a command. It ends with its input, so with this process too. */
export class LineProcess {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly over: Promise<void>;
  private errors = '';
  private nextId = 1;
  /** Why no further request is answered. */
  private problem?: Error;

  constructor(private readonly command: LineCommand) {
    const { cli, repoRoot, args, name } = command;
    this.child = spawn(process.execPath, [cli, ...args], {
      cwd: repoRoot,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', WHETSTONE_PROGRESS: 'json' },
      windowsHide: true,
    });
    // A process that ended takes no request any more; the end itself says why.
    this.child.stdin!.on('error', () => undefined);
    this.child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      this.errors = (this.errors + chunk).slice(-longestErrors);
    });
    createInterface({ input: this.child.stdout!, crlfDelay: Infinity }).on('line', (line) => this.answered(line));
    this.over = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.end(infrastructure(t('{0} did not start ({1}).', name, error.message), '', error));
        resolve();
      });
      this.child.once('close', (code) => {
        const lastLine = this.errors.trim().split('\n').at(-1) ?? '';
        const silence = t('{0} ended with code {1} and said nothing.', name, String(code));
        this.end(failed(lastLine === '' ? silence : failureOf(lastLine), ''));
        resolve();
      });
    });
  }

  /** Rejects as failed with what the answer says, or with why the process is over. */
  ask(method: string, fields: object = {}): Promise<unknown> {
    if (this.problem) return Promise.reject(this.problem);
    const id = this.nextId++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.stdin!.write(`${JSON.stringify({ ...fields, id, method })}\n`);
    });
  }

  /** Ends it; when this resolves, the process is gone, and its worktree with it. */
  async close(): Promise<void> {
    this.end(cancelled(t('{0} is over.', this.command.name)));
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
    if (!answer.success) return this.end(failed(t('{0} gave an answer that cannot be read.', this.command.name), ''));
    const { id, error, phrase } = answer.data;
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(failed({ message: error, phrase }, ''));
  }

  private end(problem: Error): void {
    this.problem ??= problem;
    for (const { reject } of this.waiting.values()) reject(this.problem);
    this.waiting.clear();
  }
}

/** Opens such a process with its first request; where that fails, or `signal` aborts, the process is gone before it throws. */
export async function openLineProcess<T>(
  command: LineCommand,
  first: (process: LineProcess) => Promise<T>,
  signal?: AbortSignal,
): Promise<{ readonly process: LineProcess; readonly opened: T }> {
  const process = new LineProcess(command);
  const abort = () => void process.close();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return { process, opened: await first(process) };
  } catch (error) {
    await process.close();
    throw signal?.aborted ? cancelled(t('{0} was cancelled.', command.name)) : error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
