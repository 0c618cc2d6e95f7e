import { launcherKey } from './launcherKey.js';
import { channelVariable, nodePreloadUrl } from './nodePreload.js';
import { oneTimeTag } from './oneTimeTag.js';

/** What the launcher is told, as JSON in its only argument. */
export interface LauncherOptions {
  /** Where the results go. */
  readonly results: string;
  /** Flags of Node's for the processes of the tests. */
  readonly flags: readonly string[];
  /** How many files run side by side; absent for one less than there are processors, as with `node --test`. */
  readonly concurrency?: number;
  readonly files: readonly string[];
}

/**
 * Runs test files as `node --test` does, each in a process of its own, but for one thing: it takes no results from a
 * process's output, where code under test can write them, but over a channel of its own, with the tag that
 * `nodePreload` makes. Given to Node with `--eval`. It loads nothing of the repository.
 * Writes JSON lines: `{kind:'start', cwd, node}`, `{kind:'result', …}` and last `{kind:'end', proof}`, where the proof is
 * the HMAC of all lines before it.
 */
export const nodeLauncher = String.raw`
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
${oneTimeTag}
const { results, flags, concurrency, files } = JSON.parse(process.argv[1]);
const keptStderr = 8192;
const drainMs = 1000;

${launcherKey}
/** Runs one file; gives its end, the start of its standard error, and what came over the channel. */
function start(file, worker, secrets) {
  const reporting = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
  const child = spawn(process.execPath, ['--import', '${nodePreloadUrl}', ...flags, ...reporting, file], {
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    env: { ...process.env, ${channelVariable}: '3', NODE_TEST_WORKER_ID: String(worker) },
  });
  let stderr = '';
  let message = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    process.stderr.write(chunk);
    if (stderr.length < keptStderr) stderr += chunk;
  });
  const channel = child.stdio[3];
  channel.on('error', () => {});
  channel.setEncoding('utf8').on('data', (chunk) => (message += chunk));
  channel.write(JSON.stringify(secrets.map((secret) => secret.toString(16))) + '\n');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      const end = () => {
        clearTimeout(timer);
        for (const pipe of [child.stderr, channel]) pipe.destroy();
        resolve({ code, signal, stderr, message });
      };
      // What a test left running may hold the pipes open.
      const timer = setTimeout(end, drainMs);
      child.on('close', end);
    });
  });
}

/** The lines of results, where the tag is right; else undefined. */
function provenLines(message, secrets) {
  try {
    const { lines, tag } = JSON.parse(message);
    return tag === String(tagOf(lines, secrets)) ? lines.split('\n').filter((line) => line !== '') : undefined;
  } catch {
    return undefined;
  }
}

async function runFile(file, worker) {
  const secrets = [0, 1].map(() => BigInt('0x' + randomBytes(15).toString('hex')));
  const { code, signal, stderr, message } = await start(file, worker, secrets);
  const lines = provenLines(message, secrets);
  const entryFile = path.resolve(file);
  const found = (lines ?? []).map((line) => ({ ...JSON.parse(line), entryFile }));
  const hasFailed = found.some(({ passed, skipped }) => !passed && !skipped);
  const endedWell = lines !== undefined && code === 0;
  // The file stands for itself where it holds no test, or where something went wrong that no test shows.
  if (found.length > 0 && (endedWell || (lines && hasFailed))) return found;
  const ending = code === null ? 'the process was ended by ' + signal : 'the process ended with exit code ' + code;
  const error = { message: lines ? ending : ending + ' before its results were complete', failureType: 'testCodeFailure' };
  const result = { kind: 'result', path: [file], file: entryFile, suite: false, passed: endedWell, skipped: false };
  return [...found, endedWell ? result : { ...result, error, stderr }];
}

async function main() {
  const key = takeKey();
  const found = files.map(() => []);
  let next = 0;
  const workers = Math.min(files.length, concurrency ?? Math.max(1, availableParallelism() - 1));
  const work = async (worker) => {
    for (let at = next++; at < files.length; at = next++) found[at] = await runFile(files[at], worker);
  };
  await Promise.all(Array.from({ length: workers }, (_, index) => work(index + 1)));
  const lines = [{ kind: 'start', cwd: process.cwd(), node: process.version }, ...found.flat()];
  const text = lines.map((line) => JSON.stringify(line) + '\n').join('');
  const proof = key && createHmac('sha256', key).update(text).digest('hex');
  writeFileSync(results, text + JSON.stringify({ kind: 'end', proof }) + '\n');
  process.exitCode = found.flat().every(({ passed, skipped }) => passed || skipped) ? 0 : 1;
}

await main();
`;
