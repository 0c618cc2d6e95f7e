import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { BoundedOutput } from './boundedOutput.js';
import { treeUsage } from './processTree.js';
import type { SandboxCommand, SandboxResult } from './sandbox.js';

/** Resident memory of a command's whole process tree beyond which it is killed. */
export const memoryLimitBytes = 2 * 1024 ** 3;
/** Processes beyond which it is killed. */
export const processLimit = 512;
const usagePollMs = 500;
/** How long the output may stay open after the end of the process that was waited for. */
const drainMs = 1000;

const overuse = {
  'out-of-memory': `used more than ${memoryLimitBytes / 1024 ** 2} MiB of memory`,
  'too-many-processes': `started more than ${processLimit} processes`,
};
type Overuse = keyof typeof overuse;
type Ending = 'timed-out' | 'cancelled' | Overuse;

const cancelledBefore: SandboxResult = {
  outcome: 'cancelled',
  exitCode: null,
  output: '',
  outputTruncated: false,
  durationMs: 0,
};

export interface BoundedProcess {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: Pick<SandboxCommand, 'timeoutMs' | 'maxOutputBytes' | 'signal'>;
  /** Ends the running process with its whole tree. `status` is what the status stream has said so far. */
  readonly killTree: (pid: number, status: string) => Promise<void>;
  /** Ends what the process left behind when it ended by itself. */
  readonly sweep?: (pid: number) => Promise<void>;
  /** Called with the pid once it runs. */
  readonly onStart?: (pid: number) => void;
  /** Reads a fourth stream (file descriptor 3) to its end, where the program reports on itself. */
  readonly statusStream?: boolean;
}

/** Runs a program to its end within time, memory, processes and output; afterwards its tree is gone. Also gives the status stream's text. */
export async function runBounded(
  bounded: BoundedProcess,
): Promise<{ readonly result: SandboxResult; readonly status: string }> {
  const { argv, limits } = bounded;
  if (limits.signal?.aborted) return { result: cancelledBefore, status: '' };
  const started = performance.now();
  const child = spawn(argv[0], argv.slice(1), {
    cwd: bounded.cwd,
    env: { ...bounded.env },
    // A group of its own: Ctrl-C in the terminal is ours to handle, and the group can be killed as one.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: bounded.statusStream ? ['ignore', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
  });
  const output = new BoundedOutput(limits.maxOutputBytes);
  const status = new BoundedOutput(65536);
  child.stdout?.on('data', (chunk: Buffer) => output.add(chunk));
  child.stderr?.on('data', (chunk: Buffer) => output.add(chunk));
  if (bounded.statusStream) (child.stdio[3] as Readable).on('data', (chunk: Buffer) => status.add(chunk));

  const ended = endOf(child);
  const pid = await startOf(child);
  bounded.onStart?.(pid);

  let ending: Ending | null = null;
  const end = (reason: Ending) => {
    if (ending !== null || child.exitCode !== null || child.signalCode !== null) return;
    ending = reason;
    void bounded.killTree(pid, status.toString());
  };
  const timer = setTimeout(() => end('timed-out'), limits.timeoutMs);
  const onAbort = () => end('cancelled');
  limits.signal?.addEventListener('abort', onAbort);
  const watch = watchUsage(pid, end);
  try {
    const exitCode = await ended.exit;
    await bounded.sweep?.(pid);
    await ended.outputClosed();
    const reason = ending as Ending | null;
    if (reason !== null && reason in overuse) output.add(Buffer.from(`\n[killed: ${overuse[reason as Overuse]}]\n`));
    const result: SandboxResult = {
      outcome: reason === 'timed-out' || reason === 'cancelled' ? reason : 'exited',
      exitCode: reason === null ? exitCode : null,
      output: output.toString(),
      outputTruncated: output.truncated,
      durationMs: performance.now() - started,
    };
    return { result, status: status.toString() };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    limits.signal?.removeEventListener('abort', onAbort);
  }
}

/** Looks at the tree time and again; each look waits for the one before, since on a busy machine one takes long. */
function watchUsage(pid: number, end: (reason: Overuse) => void): NodeJS.Timeout {
  let isLooking = false;
  return setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void treeUsage(pid)
      .then(({ bytes, processes }) => {
        if (processes > processLimit) end('too-many-processes');
        else if (bytes > memoryLimitBytes) end('out-of-memory');
      })
      // What could not be seen now is looked at again.
      .catch(() => undefined)
      .finally(() => (isLooking = false));
  }, usagePollMs);
}

function startOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0));
    child.once('error', (error) => {
      reject(infrastructure(say`${child.spawnfile} could not be started: ${error.message}.`, '', error));
    });
  });
}

/** The exit code once the process ended, and a wait for its pipes that a process left behind cannot make endless. */
function endOf(child: ChildProcess) {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    exit: new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code))),
    outputClosed: async () => {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, drainMs)));
      await Promise.race([closed, late]);
      clearTimeout(timer);
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}
