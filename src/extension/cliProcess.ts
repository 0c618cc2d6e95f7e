import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { cancelled, failed, infrastructure } from '../trajectory/errors.js';
import type { Said } from '../trajectory/said.js';
import { saidSchema } from '../trajectory/saidSchema.js';
import { ofEngine, t } from './translate.js';

/** A command of the bundled command line, to be run for a repository. */
export interface CliRequest {
  /** The bundled command line. */
  readonly cli: string;
  readonly repoRoot: string;
  /** The command and its arguments; they are never joined to a string. */
  readonly args: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with what the command says meanwhile: its progress in the editor's language, all else as it stands. */
  readonly onProgress?: (line: string) => void;
}

const graceMilliseconds = 5000;
/** Of a line that a command writes to standard error. */
const longestLine = 8000;

/**
 * Runs a command that prints JSON, in a child process, and gives the document as `schema` reads it, whatever the exit
 * code (1 is the answer "no" of some). An abort interrupts the process, which cleans up after itself, and rejects as
 * cancelled. Rejects as failed with what the process wrote to standard error last.
 */
export function runCli<T>(request: CliRequest, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> {
  const { cli, repoRoot, args, env, onProgress } = request;
  const name = `whetstone ${args[0]}`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: repoRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env, ELECTRON_RUN_AS_NODE: '1', WHETSTONE_PROGRESS: 'json' },
      windowsHide: true,
    });
    const output: string[] = [];
    let failure: Said | undefined;
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
    createInterface({ input: child.stderr, crlfDelay: Infinity }).on('line', (written) => {
      const line = written.trim();
      const said = saidSchema.safeParse(parseJson(line));
      if (said.success) return onProgress?.(ofEngine(said.data));
      if (line === '') return;
      failure = failureOf(line);
      onProgress?.(ofEngine(failure));
    });
    let lastResort: NodeJS.Timeout | undefined;
    const interrupt = () => {
      child.kill('SIGINT');
      lastResort = setTimeout(() => child.kill('SIGKILL'), graceMilliseconds);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    child.once('error', (error) =>
      reject(infrastructure(t('{0} did not start ({1}).', name, error.message), '', error)),
    );
    child.once('close', (code) => {
      clearTimeout(lastResort);
      signal.removeEventListener('abort', interrupt);
      if (signal.aborted) return reject(cancelled(t('{0} was cancelled.', name)));
      const document = schema.safeParse(parseJson(output.join('')));
      if (document.success) return resolve(document.data);
      reject(failed(failure ?? t('{0} ended with code {1} and said nothing.', name, String(code)), ''));
    });
  });
}

const failureSchema = z.object({ error: saidSchema });

/** Why a command failed, by the last line that it wrote to standard error: as it says so to programs, or in words. */
export function failureOf(line: string): Said {
  const said = failureSchema.safeParse(parseJson(line));
  return said.success ? said.data.error : { message: line.replace(/^whetstone: /, '').slice(-longestLine) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
