import { launcherKey } from './launcherKey.js';
import { channelVariable } from './nodePreload.js';

/**
 * Source of what the launchers of compiled test programs share. It comes first in each of them (imports may stand
 * anywhere, and no name twice), and loads nothing of the repository.
 * - `takeKey()` takes the run's key away before anything else is started; `writeProven(file, document, key)` writes a line
 *   of JSON and a line with its HMAC.
 * - `start(command, args, {cwd, env, secret, echo, whole})` gives the end of a process, its output (its start, or the whole) and, where it was given a
 *   secret, what it answered over the socket that is its file descriptor 3, as latin1. Nothing of it runs on.
 * - `built(program)` notes what a program holds; `check(program)` fails where it holds something else.
 */
export const programLauncher = String.raw`
import { execFile, spawn } from 'node:child_process';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const keptOutput = 512 * 1024;
const drainMs = 1000;

${launcherKey}
function writeProven(file, document, key) {
  const text = JSON.stringify(document) + '\n';
  const proof = key === undefined ? '' : createHmac('sha256', key).update(text).digest('hex');
  writeFileSync(file, text + proof + '\n');
}

/** Standard output; fails where the program fails. */
const ask = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 256 * 1024 * 1024 }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });

function start(command, args, { cwd, env, secret, echo = true, whole = false }) {
  const child = spawn('/bin/sh', ['-c', 'exec "$@" 2>&1', 'sh', command, ...args], {
    cwd,
    env: { ...process.env, ...env, PWD: cwd, ...(secret && { ${channelVariable}: '3' }) },
    stdio: ['ignore', 'pipe', 'ignore', ...(secret ? ['pipe'] : [])],
    detached: true,
  });
  let output = '';
  let message = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    if (echo) process.stdout.write(chunk);
    if (whole || output.length < keptOutput) output += chunk;
  });
  const channel = child.stdio[3];
  if (channel) {
    channel.on('error', () => {});
    channel.setEncoding('latin1').on('data', (chunk) => (message += chunk));
    channel.write(secret);
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      const end = () => {
        clearTimeout(timer);
        child.stdout.destroy();
        channel?.destroy();
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {}
        resolve({ code, signal, output, message });
      };
      // What a test left running may hold the pipes open.
      const timer = setTimeout(end, drainMs);
      child.on('close', end);
    });
  });
}

const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const built = (program) => ({ program, digest: digestOf(program) });
function check({ program, digest }) {
  if (digestOf(program) !== digest) throw new Error('A test program was changed after it had been built: ' + program);
}

/** Works on the items side by side, as many at a time as there are processors. */
async function forEach(items, work) {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) await work(items[at]);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, availableParallelism()) }, worker));
}
`;
