import { spawn } from 'node:child_process';
import { z } from 'zod';
import { cancelled, failed, infrastructure } from '../../trajectory/errors.js';

export const turnSchema = z.object({
  /** 1-based. */
  turn: z.int(),
  /** Whether the tools answered as recorded. */
  same: z.boolean(),
  /** The turn's tool calls in words. */
  call: z.string(),
  recorded: z.array(z.string()),
  observed: z.array(z.string()),
  /** Hunks of a unified diff from the recorded to the observed text. */
  diff: z.string(),
});
export const changeSchema = z.object({
  /** Relative to the repository's root, with `/`. */
  path: z.string(),
  /** The file's text in the task's tree, and after the last played turn; null where it is not there. */
  before: z.string().nullable(),
  after: z.string().nullable(),
});
/** What `whetstone replay --json` prints, as far as it is read here. */
const replaySchema = z.looseObject({ turns: z.array(turnSchema), changes: z.array(changeSchema) });

/** What a replay found, turn by turn. */
export type Replay = z.infer<typeof replaySchema>;
export type ReplayedTurn = z.infer<typeof turnSchema>;

export interface ReplayRequest {
  /** The bundled command line. */
  readonly cli: string;
  readonly repoRoot: string;
  readonly runId: string;
  readonly trajectoryId: string;
  /** Last turn to play; all where it is absent. */
  readonly until?: number;
}

/** Arguments of the command line, never joined to a string. */
export function replayArguments({ cli, repoRoot, runId, trajectoryId, until }: ReplayRequest): string[] {
  const untilTurn = until === undefined ? [] : ['--until', String(until)];
  return [cli, 'replay', '--json', '--repo', repoRoot, ...untilTurn, '--', runId, trajectoryId];
}

const graceMilliseconds = 5000;

/**
 * Plays a trajectory again in a fresh worktree, in a child process. An abort interrupts the process, which cleans up
 * after itself, and rejects as cancelled. Rejects as failed with what the process wrote to standard error.
 */
export function runReplay(request: ReplayRequest, signal: AbortSignal): Promise<Replay> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, replayArguments(request), {
      cwd: request.repoRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
      windowsHide: true,
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors = (errors + chunk).slice(-8000)));
    let lastResort: NodeJS.Timeout | undefined;
    const interrupt = () => {
      child.kill('SIGINT');
      lastResort = setTimeout(() => child.kill('SIGKILL'), graceMilliseconds);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    child.once('error', (error) => reject(infrastructure(`The replay did not start (${error.message}).`, '', error)));
    child.once('close', (code) => {
      clearTimeout(lastResort);
      signal.removeEventListener('abort', interrupt);
      if (signal.aborted) return reject(cancelled('The replay was cancelled.'));
      const replay = parseReplay(output);
      if (replay) return resolve(replay);
      const lastLine =
        errors
          .trim()
          .split('\n')
          .at(-1)
          ?.replace(/^whetstone: /, '') ?? '';
      reject(failed(lastLine || `The replay ended with code ${code} and said nothing.`, ''));
    });
  });
}

function parseReplay(output: string): Replay | undefined {
  try {
    return replaySchema.parse(JSON.parse(output));
  } catch {
    return undefined;
  }
}
