import { Option } from 'commander';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { openEnvironment } from '../../env/openEnvironment.js';
import { readIncludedTasks } from '../../env/tasks/excludedTasks.js';
import { serveOpenEnv } from '../../interop/openenv/server.js';
import { SessionPool } from '../../interop/openenv/sessionPool.js';
import { environmentArena } from '../../trainer/rollout/environmentArena.js';
import { loadSettings } from '../../trainer/run/settings.js';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { interruptible } from '../interrupt.js';
import {
  countFromOne,
  filled,
  jsonOption,
  locateState,
  repoOption,
  sandboxOption,
  wholeNumber,
  type AddCommand,
  type SandboxOptions,
} from '../options.js';
import { describeError, print, printable } from '../output.js';
import { version } from '../version.js';

interface ServeCommandOptions extends SandboxOptions {
  readonly openenv?: boolean;
  readonly host: string;
  readonly port: number;
  readonly sessions: number;
  readonly idleSeconds: number;
  readonly tokenFile?: string;
}

export const addServeCommand: AddCommand = (program) => {
  program
    .command('serve')
    .description("let other engines play this repository's tasks")
    .addOption(repoOption())
    .addOption(new Option('--openenv', "by OpenEnv's contract, over WebSocket and HTTP").makeOptionMandatory())
    .addOption(
      new Option('--host <address>', 'where to listen').argParser(filled).default('127.0.0.1', 'this machine only'),
    )
    .option('--port <n>', 'the port; 0 takes a free one', wholeNumber, 8000)
    .option('--sessions <n>', 'sessions at the same time, each in its own worktree', countFromOne, 8)
    .option('--idle-seconds <n>', 'a session ends after so long without a message', countFromOne, 900)
    .addOption(
      new Option(
        '--token-file <file>',
        'the token that clients must show; by default WHETSTONE_TOKEN. Needed beyond this machine',
      ).argParser(filled),
    )
    .addOption(sandboxOption())
    .addOption(jsonOption())
    .action((options: ServeCommandOptions) => interruptible((signal) => serve(options, signal)));
};

async function serve(options: ServeCommandOptions, signal: AbortSignal): Promise<void> {
  const { repoRoot, stateFolder } = await locateState(options);
  const token = await readToken(options.tokenFile);
  if (token === null && !isLoopback(options.host)) {
    throw badInput(
      say`Whoever reaches ${options.host} could run commands here.`,
      'Set WHETSTONE_TOKEN or --token-file, or listen on 127.0.0.1.',
    );
  }
  const tasks = await readIncludedTasks(stateFolder);
  const settings = await loadSettings(repoRoot, { sandbox: options.sandbox });
  const environment = await openEnvironment({ path: repoRoot, sandbox: settings.sandbox, signal });
  try {
    const pool = new SessionPool(tasks, {
      capacity: options.sessions,
      groundsOf: (terms) => {
        const ofPlay = { ...settings, ...terms?.settings };
        const arena = environmentArena(environment, ofPlay, terms?.callExample ?? undefined);
        return { arena, episodeSeconds: ofPlay.episodeSeconds };
      },
    });
    const { host } = options;
    const limits = { idleMs: 1000 * options.idleSeconds, pingMs: 20_000, sendMs: 30_000, queuedMessages: 8 };
    const name = path.basename(repoRoot);
    // A session that is ended meets its own cancellation: no news.
    const report = (error: unknown) => {
      if (error instanceof WhetstoneError && error.kind === 'cancelled') return;
      process.stderr.write(`${printable(describeError(error).said.message)}\n`);
    };
    const server = await serveOpenEnv(pool, {
      ...{ host, port: options.port, token, name, version },
      ...{ sandbox: environment.sandbox, limits, report },
    });
    try {
      const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${server.port}`;
      const facts = { url, tasks: tasks.length, sessions: options.sessions, sandbox: environment.sandbox };
      // One line, so that whoever started it can read where it is.
      if (options.json) process.stdout.write(`${JSON.stringify(facts)}\n`);
      else
        print(
          printable(
            `${tasks.length} tasks at ${url}, up to ${options.sessions} sessions, sandbox ${facts.sandbox}. Ctrl-C ends it.`,
          ),
        );
      await aborted(signal);
    } finally {
      await server.close();
    }
  } finally {
    await environment.dispose();
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

async function readToken(file: string | undefined): Promise<string | null> {
  if (file === undefined) return process.env.WHETSTONE_TOKEN?.trim() || null;
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw badInput(say`${file} cannot be read (${String(error.code)}).`, 'Name a file that holds the token.', error);
  });
  if (text.trim() === '') throw badInput(say`${file} is empty.`, 'Put the token into it.');
  return text.trim();
}

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
