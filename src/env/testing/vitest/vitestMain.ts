import { channelSource } from '../childLauncher.js';
import { channelVariable } from '../nodePreload.js';
import { vitestPreloadUrl, vitestRunner } from './vitestWorker.js';

/** What the process of Vitest is told, as JSON in its first argument; the others are the files, relative to where it is started. */
export interface VitestOptions {
  /** Arguments of the package's own script. */
  readonly args: readonly string[];
  /** A folder for what Vite would cache. */
  readonly cache: string;
}

/**
 * Runs Vitest by its own interface with the repository's configuration. Every file of tests gets a process of its own (as
 * by Vitest's default), which records its results by itself (`vitestWorker`) and sends them over a channel; what it tells
 * Vitest only adds failures to that. Started by `childLauncher`.
 * Not covered: a configuration, or a global set-up, that loads code under test runs that in this process.
 */
export const vitestMain = String.raw`
import childProcess from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
${channelSource}
const { args, cache } = JSON.parse(process.argv[1]);
const files = process.argv.slice(2);
const send = takeChannel();
const drainMs = 1000;
const folder = path.dirname(createRequire(path.resolve('package.json')).resolve('vitest/package.json'));

process.argv.splice(1, Infinity, path.join(folder, 'vitest.mjs'), 'run');
process.execArgv.length = 0;
process.on('SIGUSR1', () => {});

// Where one of its workers has ended, Vitest 3 writes to it again and again, or ends as a whole; that a file has no
// results says enough.
const isOfWorker = (error) => /^(Channel closed|write EPIPE|Worker exited unexpectedly)$/.test(error?.message);
const { on } = process;
process.on = function (event, listener) {
  if (event !== 'unhandledRejection' && event !== 'uncaughtException') return on.call(process, event, listener);
  return on.call(process, event, (error, ...rest) => isOfWorker(error) || listener(error, ...rest));
};
function withoutLateWrites(child) {
  const { send } = child;
  child.send = (...message) => child.connected && send.apply(child, message);
}

// Vite bundles a configuration into the installed dependencies, which are read-only here; on this error, beside itself.
const { mkdir } = fsp;
fsp.mkdir = async (name, ...rest) => {
  if (String(name).includes('.vite-temp')) throw Object.assign(new Error('read-only'), { code: 'EACCES' });
  return mkdir(name, ...rest);
};

const runnerSource = ${JSON.stringify(vitestRunner)}.replaceAll('VITEST', pathToFileURL(path.join(folder, 'dist')).href);
const runner = 'data:text/javascript;base64,' + Buffer.from(runnerSource).toString('base64');

const proven = [];
const receiving = [];
const { fork } = childProcess;
childProcess.fork = (module, argv, options) => {
  if (!/[\\/](vitest|tinypool)[\\/]dist[\\/]/.test(String(module))) return fork(module, argv, options);
  const secrets = [0, 1].map(() => BigInt('0x' + randomBytes(15).toString('hex')));
  const child = fork(module, argv, {
    ...options,
    stdio: ['pipe', 'pipe', 'pipe', 'ipc', 'pipe'],
    execArgv: ['--import', '${vitestPreloadUrl}', ...(options.execArgv ?? [])],
    env: { ...options.env, ${channelVariable}: '4' },
  });
  receiving.push(receive(child, secrets));
  withoutLateWrites(child);
  return child;
};
syncBuiltinESMExports();

function receive(child, secrets) {
  let message = '';
  const channel = child.stdio[4];
  channel.on('error', () => {});
  channel.setEncoding('utf8').on('data', (chunk) => (message += chunk));
  channel.write(JSON.stringify(secrets.map((secret) => secret.toString(16))) + '\n');
  return new Promise((resolve) => {
    let timer;
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      channel.destroy();
      try {
        const { lines, tag } = JSON.parse(message);
        if (tag === String(tagOf(lines, secrets))) {
          proven.push(lines.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line)));
        }
      } catch {}
      resolve();
    };
    child.on('exit', () => (timer = hasEnded ? undefined : setTimeout(end, drainMs)));
    channel.on('close', end);
  });
}

function configure(vitest) {
  for (const { config } of vitest.projects) {
    config.runner = runner;
    config.pool = 'forks';
    config.isolate = true;
    // Vitest 3 has more ways to choose a pool.
    config.poolMatchGlobs = [];
    if (config.browser) config.browser.enabled = false;
    config.sequence = { ...config.sequence, shuffle: false };
    if (config.typecheck) config.typecheck.enabled = false;
    // Vitest 3 has them in an object of their own.
    const forks = config.poolOptions?.forks;
    if (!forks) continue;
    const single = forks.singleFork ? { minForks: 1, maxForks: 1 } : {};
    config.poolOptions = { ...config.poolOptions, forks: { ...forks, isolate: true, singleFork: false, ...single } };
  }
}

const slashes = (name) => name.replaceAll('\\', '/');

/** A failure that belongs to the file as a whole. */
function fileFailure(file, error) {
  const { message, name, stack, stackStr } = error ?? {};
  const described = { message: String(message ?? error), name, stack: stack ?? stackStr };
  return { kind: 'result', path: [file], file, entryFile: file, suite: false, passed: false, skipped: false, error: described };
}

const errorsIn = (suite) => [
  ...(suite.result?.errors ?? []),
  ...(suite.tasks ?? []).flatMap((task) => (task.type === 'suite' ? errorsIn(task) : [])),
];

/** The results of one file in one project: what its process recorded, or why the file failed where no test shows it. */
function resultsOf(file, task, unhandled) {
  const isOfThis = ([head]) => slashes(head.file) === slashes(file) && head.project === (task.projectName ?? '');
  const record = proven.find(isOfThis);
  const found = (record ?? []).slice(1);
  if (found.some(({ passed, skipped }) => !passed && !skipped)) return found;
  const own = unhandled.filter((error) => slashes(error?.VITEST_TEST_PATH ?? '') === slashes(file));
  const [error] = [...errorsIn(task), ...own];
  if (error) return [...found, fileFailure(file, error)];
  const isCut = 'the process ended before its results were complete';
  return record ? found : [fileFailure(file, { message: isCut })];
}

const { startVitest, parseCLI } = await import(pathToFileURL(path.join(folder, 'dist', 'node.js')).href);
const { options } = parseCLI(['vitest', 'run', ...args], { allowUnknownOptions: true });
const wanted = files.map((file) => path.resolve(file));
const vitest = await startVitest(
  'test',
  wanted,
  {
    ...options,
    run: true,
    watch: false,
    ui: false,
    cache: false,
    retry: 0,
    bail: 0,
    passWithNoTests: true,
    coverage: { enabled: false },
    reporters: ['default', { onInit: configure }],
  },
  { cacheDir: cache },
);
await Promise.all(receiving);

const unhandled = vitest.state.getUnhandledErrors();
const results = wanted.flatMap((file) => {
  const tasks = vitest.state.getFiles().filter(({ filepath }) => slashes(filepath) === slashes(file));
  const byProject = tasks.sort((a, b) => (a.projectName < b.projectName ? -1 : 1));
  return byProject.flatMap((task) => {
    const found = resultsOf(file, task, unhandled);
    // A file that several projects run is told apart by their names.
    return tasks.length === 1 ? found : found.map((line) => ({ ...line, path: [task.projectName ?? '', ...line.path] }));
  });
});
send(results.map((line) => JSON.stringify(line) + '\n').join(''));
process.exit();
`;
