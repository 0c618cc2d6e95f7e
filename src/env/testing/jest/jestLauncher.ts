import { launcherKey } from '../launcherKey.js';
import { channelVariable } from '../nodePreload.js';
import { oneTimeTag } from '../oneTimeTag.js';
import { jestPreloadUrl } from './jestPreload.js';

/** What the launcher is told, as JSON in its first argument; the others are the test files, relative to where it is started. */
export interface JestLauncherOptions {
  /** Where the results go. */
  readonly results: string;
  /** Flags of Node's for Jest's processes. */
  readonly flags: readonly string[];
  /** Jest's own arguments, that is where the repository's configuration lies. */
  readonly args: readonly string[];
  /** Do the files have to run one after the other, in one process? */
  readonly inOneProcess: boolean;
}

/**
 * Source that finds Jest's program from the folder where it runs, as a script of the package's would: `jestProgram()` gives
 * `{file, version}`, or undefined where Jest is not installed.
 */
export const jestProgramSource = String.raw`
const jestProgram = () => {
  const resolve = createRequire(path.join(process.cwd(), 'package.json')).resolve;
  for (const name of ['jest', 'jest-cli']) {
    try {
      const manifest = resolve(name + '/package.json');
      const { bin, version } = JSON.parse(readFileSync(manifest, 'utf8'));
      const file = typeof bin === 'string' ? bin : bin.jest;
      return { file: path.join(path.dirname(manifest), file), version };
    } catch {}
  }
  return undefined;
};
`;

/**
 * Runs test files with the Jest that the repository has installed, some of them in each process, and takes the results over a
 * channel of its own from `jestPreload`. It holds the key, and loads nothing of the repository. Given to Node with `--eval`.
 * Up to four files have a process each, so that no code under test runs before another file's tests are loaded; more share them.
 * A file that ends its process has failed, and those that were still to come run in another.
 * Writes JSON lines: `{kind:'start', …}`, `{kind:'result', …}` and last `{kind:'end', proof}`, where the proof is the HMAC of all lines
 * before it; nothing where Jest could not start.
 */
export const jestLauncher = String.raw`
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
${oneTimeTag}
${jestProgramSource}
const { results, flags, args, inOneProcess } = JSON.parse(process.argv[1]);
const files = process.argv.slice(2);
const maxProcesses = 4;
const keptStderr = 4096;
const drainMs = 1000;
// A global teardown may take its time; what is left of the tests may hold a process for ever.
const teardownMs = 10000;

${launcherKey}
/** About how Jest runs and what it shows; where its configuration lies is in the script's own arguments. */
const jestArguments = (chosen, cache) => [
  ...args,
  '--ci', '--runInBand', '--forceExit', '--passWithNoTests', '--bail=0', '--coverage=false',
  '--watch=false', '--watchAll=false', '--notify=false', '--colors=false', '--cacheDirectory=' + cache, '--reporters=default',
  '--runTestsByPath', ...chosen,
];

/** One process of Jest's over some files, to its end. */
function start(program, chosen, secrets, cache) {
  const child = spawn(
    process.execPath,
    ['--import', '${jestPreloadUrl}', ...flags, program, ...jestArguments(chosen, cache)],
    {
      stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
      env: { ...process.env, FORCE_COLOR: '0', ${channelVariable}: '3' },
    },
  );
  const finished = new Map();
  const used = new Set();
  let started;
  let stderr = '';
  let rest = '';
  let teardown;
  const receive = (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (typeof message?.started === 'string') started = message.started;
    const { file, secret, lines, tag } = message ?? {};
    if (typeof file !== 'string' || typeof lines !== 'string' || typeof secret !== 'number' || !secrets[secret + 1] || used.has(secret)) return;
    if (tag !== String(tagOf(JSON.stringify(file) + lines, [secrets[0], secrets[secret + 1]]))) return;
    used.add(secret);
    finished.set(file, [...(finished.get(file) ?? []), lines]);
    clearTimeout(teardown);
    if (finished.size === chosen.length) teardown = setTimeout(() => child.kill('SIGKILL'), teardownMs);
  };
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    process.stderr.write(chunk);
    stderr = (stderr + chunk).slice(-keptStderr);
  });
  const channel = child.stdio[3];
  channel.on('error', () => {});
  channel.setEncoding('utf8').on('data', (chunk) => {
    const pieces = (rest + chunk).split('\n');
    rest = pieces.pop();
    pieces.forEach(receive);
  });
  channel.write(JSON.stringify(secrets.map((secret) => secret.toString(16))) + '\n');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(teardown);
      const end = () => {
        clearTimeout(timer);
        for (const pipe of [child.stderr, channel]) pipe.destroy();
        resolve({ code, signal, stderr, started, finished });
      };
      // What a test left running may hold the pipes open.
      const timer = setTimeout(end, drainMs);
      child.on('close', end);
    });
  });
}

/** The last line above a stack that names an error: what came before says only where it came to light. */
function reasonOf(stderr) {
  const [beforeStack] = stderr.split(/\n\s+at /);
  const errors = beforeStack.split('\n').filter((line) => /\b(\w*Error|●)/.test(line));
  return (errors.pop() ?? beforeStack).trim().slice(0, 400);
}

/** All results of some files. Throws where Jest could not start. */
async function runFiles(program, chosen) {
  const found = [];
  for (let left = chosen; left.length > 0; ) {
    // A file may run once for each of several projects.
    const secrets = Array.from({ length: left.length * 8 + 1 }, () => BigInt('0x' + randomBytes(15).toString('hex')));
    const cache = mkdtempSync(path.join(tmpdir(), 'jest-'));
    const { code, signal, stderr, started, finished } = await start(program, left, secrets, cache);
    rmSync(cache, { recursive: true, force: true });
    for (const parts of finished.values()) for (const lines of parts) found.push(...lines.split('\n').filter((line) => line !== ''));
    const isFinished = (file) => finished.has(path.resolve(file));
    const culprit = left.find((file) => started === path.resolve(file) && !isFinished(file));
    if (culprit === undefined && code !== 0 && finished.size === 0) throw new Error(reasonOf(stderr));
    if (culprit === undefined) return found;
    const ending = code === null ? 'the process was ended by ' + signal : 'the process ended with exit code ' + code;
    const entryFile = path.resolve(culprit);
    const error = { message: ending + ' before its results were complete' };
    const result = { kind: 'result', path: [], file: entryFile, entryFile, suite: false, passed: false, skipped: false };
    found.push(JSON.stringify({ ...result, error, stderr }));
    left = left.filter((file) => file !== culprit && !isFinished(file));
  }
  return found;
}

/** Whichever process came first, the results come by file, and within it by project. */
function inOrder(lines) {
  const place = new Map(files.map((file, index) => [path.resolve(file), index]));
  return lines
    .map((line) => ({ line, project: '', ...JSON.parse(line) }))
    .sort((a, b) => place.get(a.entryFile) - place.get(b.entryFile) || (a.project < b.project ? -1 : a.project > b.project ? 1 : 0))
    .map(({ line }) => line);
}

async function main() {
  const key = takeKey();
  const program = jestProgram();
  if (!program) throw new Error('Jest is not installed.');
  const groups = Array.from({ length: inOneProcess ? 1 : Math.min(files.length, maxProcesses) }, () => []);
  files.forEach((file, index) => groups[index % groups.length].push(file));
  const found = groups.map(() => []);
  let next = 0;
  let problem;
  const work = async () => {
    try {
      for (let at = next++; at < groups.length && !problem; at = next++) found[at] = await runFiles(program.file, groups[at]);
    } catch (error) {
      problem = error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(groups.length, Math.max(1, availableParallelism() - 1)) }, work));
  process.exitCode = 1;
  if (problem) return process.stderr.write('\nJest did not start: ' + problem.message + '\n');
  const lines = inOrder(found.flat());
  const start = JSON.stringify({ kind: 'start', cwd: process.cwd(), node: process.version, jest: program.version });
  const text = [start, ...lines].map((line) => line + '\n').join('');
  const proof = key && createHmac('sha256', key).update(text).digest('hex');
  writeFileSync(results, text + JSON.stringify({ kind: 'end', proof }) + '\n');
  if (lines.every((line) => !JSON.parse(line).error)) process.exitCode = 0;
}

await main();
`;
