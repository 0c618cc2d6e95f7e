/**
 * Plays against `whetstone serve --openenv` for long, with clients that keep the contract and clients that do not, and looks at
 * what is left: node scripts/bench/soak.mjs REPO [SESSIONS=64] [SECONDS=600], with the command line built (`node esbuild.mjs`).
 *
 * All sessions play at the same time, each episode with a command; most submit, so the tests run, and others leave in the
 * middle. Beside them clients send broken and oversized frames, shake hands and fall silent, or do not read what they asked
 * for. Samples processes, open files and memory of the server once a second. Then SIGTERM in the middle of everything. Prints
 * one line of JSON; exits with 1 where something was left, the server did not end by itself, or an answer was an error.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

const [given, sessions = '64', seconds = '600'] = process.argv.slice(2);
const repo = path.resolve(given);
const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const args = ['serve', '--openenv', '--repo', repo, '--port', '0', '--sessions', sessions, '--json'];
const server = spawn(process.execPath, [cli, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
const exited = once(server, 'exit');
const [line] = await once(createInterface(server.stdout), 'line');
const { url } = JSON.parse(line);
const port = Number(new URL(url).port);

const counts = { episodes: 0, left: 0, errors: 0, refused: 0, broken: 0, oversized: 0, silent: 0, unread: 0 };
let isOver = false;
const deadline = Date.now() + 1000 * Number(seconds);
const goesOn = () => !isOver && Date.now() < deadline;

/** A connection with what came and was not read yet; null stands for its end. */
async function open() {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  const frames = [];
  const readers = [];
  const put = (frame) => (readers.length > 0 ? readers.shift()(frame) : frames.push(frame));
  socket.on('error', () => undefined);
  socket.on('message', (data) => put(JSON.parse(String(data))));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  void closed.then(() => {
    for (const reader of readers.splice(0)) reader(null);
    frames.push(null);
  });
  await Promise.race([once(socket, 'open').catch(() => undefined), closed]);
  const read = () =>
    frames.length === 0 ? new Promise((resolve) => readers.push(resolve)) : (frames[0] ?? null) && frames.shift();
  return { socket, read, closed };
}

/** The next frame; null where the connection closes instead. */
function ask({ socket, read }, message) {
  if (socket.readyState === WebSocket.OPEN)
    socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  return read();
}
const call = (name, values) => ({ type: 'step', data: { tool_calls: [{ name, arguments: values }] } });

async function player(number) {
  for (let played = 0; goesOn(); played++) {
    const client = await open();
    const said = [await ask(client, { type: 'reset', data: {} })];
    if (said[0]?.data.code === 'CAPACITY_REACHED') {
      counts.refused += 1;
      client.socket.terminate();
      await sleep(500);
      continue;
    }
    said.push(await ask(client, call('run_command', { command: 'echo >> README.md' })));
    const leaves = (number + played) % 4 === 3;
    if (leaves) client.socket.send(JSON.stringify(call('run_tests', {})), () => undefined);
    else said.push(await ask(client, call('submit', {})));
    if (!isOver) {
      if (leaves) counts.left += 1;
      else if (said.at(-1)?.data.done) counts.episodes += 1;
      counts.errors += said.filter((frame) => frame === null || frame.type === 'error').length;
    }
    client.socket.terminate();
  }
}

/** Everything that a client should not do, one after the other, in the slots that are free. */
async function vandal() {
  while (goesOn()) {
    const broken = await open();
    for (const text of ['{"type":', '[]', '{"type":"step","data":{"text":3}}']) {
      if ((await ask(broken, text))?.type === 'error') counts.broken += 1;
    }
    broken.socket.terminate();
    const oversized = await open();
    oversized.socket.send('x'.repeat((1 << 20) + 1), () => undefined);
    await oversized.closed;
    counts.oversized += 1;
    await handshake(() => (counts.silent += 1));
    await handshake((socket) => {
      socket.pause();
      for (let message = 0; message < 4; message++) socket.write(frameOf('{"type":"reset"}'));
      counts.unread += 1;
    });
    await sleep(1000);
  }
}

/** A client that is left to itself after its handshake, and cut off after five seconds. */
async function handshake(then) {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const key = Buffer.alloc(16).toString('base64');
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
  then(socket);
  setTimeout(() => socket.destroy(), 5000);
}

/** A short text frame as a client sends it, with a mask of zeros. */
const frameOf = (text) => Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

/** What the server holds: processes below it, open files, resident megabytes. */
function held() {
  const parents = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const isBelow = (pid) => pid === server.pid || (parents.has(pid) && isBelow(parents.get(pid)));
  const processes = [...parents.keys()].filter((pid) => pid !== server.pid && isBelow(pid));
  const memory = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024;
  return { processes, files: readdirSync(`/proc/${server.pid}/fd`).length, memory: Math.round(memory) };
}

const before = held();
const samples = [];
const sampling = setInterval(() => samples.push(held()), 1000);
const playing = Promise.all([...Array.from({ length: Number(sessions) }, (_, number) => player(number)), vandal()]);
await Promise.race([playing, sleep(deadline - Date.now())]);
const busy = held();
clearInterval(sampling);
isOver = true;
const asked = Date.now();
server.kill('SIGTERM');
const [code] = await Promise.race([exited, sleep(60_000).then(() => ['still there'])]);
const endSeconds = (Date.now() - asked) / 1000;
if (code === 'still there') server.kill('SIGKILL');
await playing;

const survivors = busy.processes.filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1][0] !== 'Z';
  } catch {
    return false;
  }
});
const worktrees = readdirSync(path.join(repo, '.whetstone/worktrees')).length;
const half = samples.slice(Math.floor(samples.length / 2));
const most = (of, list) => Math.max(0, ...list.map(of));
const early = samples.slice(0, Math.max(1, Math.floor(samples.length / 2)));
console.log(
  JSON.stringify({
    sessions: Number(sessions),
    seconds: Number(seconds),
    ...counts,
    code,
    endSeconds,
    survivors: survivors.length,
    worktrees,
    files: {
      before: before.files,
      firstHalf: most(({ files }) => files, early),
      secondHalf: most(({ files }) => files, half),
    },
    memoryMB: {
      before: before.memory,
      firstHalf: most(({ memory }) => memory, early),
      secondHalf: most(({ memory }) => memory, half),
    },
    processes: { before: before.processes.length, most: most(({ processes }) => processes.length, samples) },
  }),
);
process.exit(code === 0 && survivors.length === 0 && worktrees === 0 && counts.errors === 0 ? 0 : 1);
