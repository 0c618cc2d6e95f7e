import { launcherKey } from './launcherKey.js';
import { channelVariable } from './nodePreload.js';
import { oneTimeTag } from './oneTimeTag.js';

/** What the launcher is told, as JSON in its first argument; further arguments go to the process that it starts. */
export interface ChildLauncherOptions {
  /** Where the results go. */
  readonly results: string;
  /** Node's arguments for the process that loads the repository's tool. */
  readonly argv: readonly string[];
}

/**
 * Holds the key where the tests run in a tool of the repository's own: it loads nothing of the repository, starts the
 * tool in another process, and takes its results over a channel of their own, with a one-time tag (`channelSource`).
 * Given to Node with `--eval`. Writes JSON lines as `nodeLauncher` does: `{kind:'start'}`, `{kind:'result', …}` and last
 * `{kind:'end', proof}`, where the proof is the HMAC of all lines before it; nothing where the tag is wrong or missing.
 */
export const childLauncher = String.raw`
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs';
${oneTimeTag}
const { results, argv } = JSON.parse(process.argv[1]);
const more = process.argv.slice(2);
const drainMs = 1000;

${launcherKey}
function start(secrets) {
  const child = spawn(process.execPath, [...argv, ...more], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, ${channelVariable}: '3' },
  });
  let message = '';
  const channel = child.stdio[3];
  channel.on('error', () => {});
  channel.setEncoding('utf8').on('data', (chunk) => (message += chunk));
  channel.write(JSON.stringify(secrets.map((secret) => secret.toString(16))) + '\n');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      const end = () => {
        clearTimeout(timer);
        channel.destroy();
        resolve({ code, message });
      };
      // What a test left running may hold the channel open.
      const timer = setTimeout(end, drainMs);
      child.on('close', end);
    });
  });
}

const key = takeKey();
const secrets = [0, 1].map(() => BigInt('0x' + randomBytes(15).toString('hex')));
const { code, message } = await start(secrets);
process.exitCode = code ?? 1;
let sent;
try {
  sent = JSON.parse(message);
} catch {}
if (typeof sent?.lines === 'string' && sent.tag === String(tagOf(sent.lines, secrets))) {
  const text = JSON.stringify({ kind: 'start', cwd: process.cwd(), node: process.version }) + '\n' + sent.lines;
  const proof = key && createHmac('sha256', key).update(text).digest('hex');
  writeFileSync(results, text + JSON.stringify({ kind: 'end', proof }) + '\n');
}
`;

/**
 * Source of the other end: `takeChannel()` gives `send(lines)`, or undefined in a process that nobody gave a channel. To
 * be called before any code of the repository is loaded (it wants `fs` imported); the secrets of the tag are then nowhere but in its closure.
 * `send` works once, and needs nothing by then that others may have replaced.
 */
export const channelSource = String.raw`
${oneTimeTag}
const takeChannel = () => {
  const channel = Number(process.env.${channelVariable});
  delete process.env.${channelVariable};
  if (!channel) return undefined;
  const { readSync, writeSync } = fs;
  const { stringify } = JSON;
  const bytesOf = Buffer.from;
  const received = Buffer.alloc(256);
  const length = readSync(channel, received);
  const [r, s] = JSON.parse(received.toString('utf8', 0, length)).map((hex) => BigInt('0x' + hex));
  received.fill(0);
  let isOpen = true;
  return (lines) => {
    if (!isOpen) return;
    isOpen = false;
    const bytes = bytesOf('{"lines":' + stringify(lines) + ',"tag":"' + tagOf(lines, [r, s]) + '"}\n');
    for (let at = 0; at < bytes.length; ) {
      try {
        at += writeSync(channel, bytes, at);
      } catch (error) {
        if (error?.code !== 'EAGAIN') throw error;
      }
    }
  };
};
`;
