import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderEnvironment, makeTask, type FakeTests } from '../../env/folderEnvironment.testing.js';
import { loadCheckpoint } from '../../trainer/model/checkpoint.js';
import type { Generator } from '../../trainer/model/policy.js';
import type { Arena, Player } from '../../trainer/rollout/arena.js';
import { environmentArena, samplingOptions } from '../../trainer/rollout/environmentArena.js';
import { groupPlans } from '../../trainer/rollout/plans.js';
import { playGroups } from '../../trainer/rollout/playGroups.js';
import { parseSettings } from '../../trainer/run/settings.js';
import type { TextCodec } from '../../trainer/text/textCodec.js';
import { writeTinyPolicy } from '../../trainer/tinyPolicy.testing.js';
import { openWorkers, type WorkerLimits } from '../../trainer/workers/openWorkers.js';
import { workerArena } from '../../trainer/workers/workerArena.js';
import type { Grade } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { serveOpenEnv } from './server.js';
import { SessionPool } from './sessionPool.js';

let folder: string;
let codec: TextCodec;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'whetstone-workers-'));
  ({ codec } = await loadCheckpoint(await writeTinyPolicy(folder)));
});
afterAll(() => rmSync(folder, { recursive: true }));

const SOURCE = 'export const low = (x) => (x < 0 ? 1 : x);\n';
const FIXED = SOURCE.replace('? 1', '? 0');
const patch = `--- a/src/low.js\n+++ b/src/low.js\n@@ -1 +1 @@\n-${SOURCE}+${FIXED}`;
const task = makeTask({ patch, FAIL_TO_PASS: ['low'] }, { test_files: ['test/low.test.js'] });
const runTests: FakeTests = async (root) => {
  const passes = (await readFile(path.join(root, 'src/low.js'), 'utf8')) === FIXED;
  const status = passes ? 'passed' : 'failed';
  return { results: [{ id: 'low', file: 'test/low.test.js', name: 'low', status, message: '' }] };
};

/** What the settings of the trainer are and the worker's are not. */
const settings = parseSettings({
  groupSize: 4,
  maxTurns: 6,
  reward: { similarity: 0.5, conduct: { testsNeverRun: 0.07 } },
  workers: ['http://worker.invalid'],
});
const never = new AbortController().signal;

const call = (name: string, values: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`;
const turns = [
  `<think>\nLook first.\n</think>\n${call('open', { path: 'src/low.js' })}`,
  '<tool_call>\n{"name": "open", "arguments": \n</tool_call>',
  call('reboot', {}) + call('open', { file: 3 }),
  call('run_command', { command: 'sleep 0.3; echo slept' }),
  call('apply_patch', { patch }),
  call('submit', {}),
];

/** Says the turns of each episode one after the other. */
function player(said: readonly string[] = turns): Player {
  const counts = new Map<string, number>();
  const generator: Generator = {
    maxContext: 100_000,
    generate({ sessionId }) {
      const turn = counts.get(sessionId) ?? 0;
      counts.set(sessionId, turn + 1);
      const tokenIds = codec.encodeTurn(said[turn]);
      const each = (value: number) => new Float32Array(tokenIds.length).fill(value);
      return Promise.resolve({ tokenIds, logprobs: each(-0.5), entropies: each(0.5), finishReason: 'stop' });
    },
    release: (sessionId) => void counts.delete(sessionId),
    invalidate: () => undefined,
    dispose: () => Promise.resolve(),
  };
  return { generator, codec, policyStep: 0 };
}

/** An arena whose grades are changed on their way. */
const lying = (arena: Arena, change: (grade: Grade) => Grade): Arena => ({
  ...arena,
  async startEpisode(...given) {
    const episode = await arena.startEpisode(...given);
    const finish = episode.finish.bind(episode);
    episode.finish = async (signal) => {
      const outcome = await finish(signal);
      return { ...outcome, grade: change(outcome.grade) };
    };
    return episode;
  },
});

async function startWorker(sessions = 4, served: Task = task, change?: (grade: Grade) => Grade) {
  const environment = await folderEnvironment({ 'src/low.js': SOURCE, 'test/low.test.js': 'strict\n' }, runTests);
  onTestFinished(() => environment.dispose());
  const own = parseSettings({ maxTurns: 2 });
  const pool = new SessionPool([served], {
    capacity: sessions,
    groundsOf: (terms) => {
      const ofPlay = { ...own, ...terms?.settings };
      const arena = environmentArena(environment, ofPlay, terms?.callExample ?? undefined);
      return { arena: change ? lying(arena, change) : arena, episodeSeconds: ofPlay.episodeSeconds };
    },
  });
  const server = await serveOpenEnv(pool, {
    ...{ host: '127.0.0.1', port: 0, token: 'geheim', name: 'low', version: '1', sandbox: 'unconfined' },
    report: () => undefined,
    limits: { idleMs: 600_000, pingMs: 600_000, sendMs: 600_000, queuedMessages: 4 },
  });
  onTestFinished(() => server.close());
  return { pool, server, url: `http://127.0.0.1:${server.port}` };
}

const quick: WorkerLimits = {
  connectMs: 2000,
  pingMs: 60_000,
  firstBackOffMs: 20,
  longestBackOffMs: 100,
  patienceMs: 400,
};

async function arenaOf(urls: readonly string[], limits: Partial<WorkerLimits> = {}, ofRun = settings) {
  vi.stubEnv('WHETSTONE_TOKEN', 'geheim');
  onTestFinished(() => void vi.unstubAllEnvs());
  const notices: string[] = [];
  const workers = await openWorkers(urls, (line) => notices.push(line), never, { ...quick, ...limits });
  return { arena: workerArena(workers, ofRun, codec.toolFormat.example), notices };
}

const play = (
  arena: Parameters<typeof playGroups>[1],
  who = player(),
  onTrajectory: (trajectory: Trajectory) => void = () => undefined,
  signal = never,
  ofRun = settings,
) =>
  playGroups(
    who,
    arena,
    groupPlans(task, 1, ofRun.groupSize, 1),
    { ...samplingOptions(ofRun, 'rollout'), episodeSeconds: ofRun.episodeSeconds },
    { concurrency: 4, signal, gate: () => Promise.resolve(), onTrajectory },
  );

const withoutTime = ({ statistics, ...rest }: Trajectory) => ({ ...rest, statistics: { ...statistics, seconds: 0 } });

describe('episodes on workers', () => {
  it.each([
    ['submitted', turns],
    ['stopped at the turn limit', [turns[0], turns[1], turns[2], turns[3], turns[4], turns[0]]],
    ['ended without a call', [turns[4], 'Done.']],
  ])('are what they are here, token for token: %s', async (_, said) => {
    const environment = await folderEnvironment({ 'src/low.js': SOURCE, 'test/low.test.js': 'strict\n' }, runTests);
    onTestFinished(() => environment.dispose());
    const here = await play(environmentArena(environment, settings, codec.toolFormat.example), player(said));
    const { url } = await startWorker();
    const { arena } = await arenaOf([url]);
    const there = await play(arena, player(said));
    expect(there.map(withoutTime)).toEqual(here.map(withoutTime));
    expect(there[0].grade?.components).toMatchObject({ tests: { score: 1 }, similarity: { score: 1, weight: 0.5 } });
    expect(there[0].grade?.reward).toBe(here[0].grade?.reward);
  });

  it('are graded as they stand where the policy has no room left, and where the time is up', async () => {
    const { url, pool } = await startWorker();
    const short = parseSettings({ ...settings, episodeSeconds: 0.2 });
    const { arena } = await arenaOf([url], {}, short);
    const [timed] = await play(arena, player([turns[4], turns[3]]), undefined, never, short);
    expect(timed).toMatchObject({ stopReason: 'time-limit', grade: { resolved: true } });
    const full = player([turns[4], '']);
    const small = { ...full, generator: { ...full.generator, maxContext: 0 } };
    const [roomless] = await play(arena, small, undefined, never, short);
    expect(roomless).toMatchObject({ stopReason: 'token-limit', grade: { resolved: false }, patch: '' });
    await vi.waitFor(() => expect(pool.active).toBe(0));
  });

  it('never open more sessions than the workers have together', async () => {
    const workers = [await startWorker(1), await startWorker(2)];
    const { arena } = await arenaOf(workers.map(({ url }) => url));
    const mostOpen: number[] = [];
    const watching = setInterval(() => mostOpen.push(workers.reduce((sum, { pool }) => sum + pool.active, 0)), 5);
    const played = await play(arena).finally(() => clearInterval(watching));
    expect(played.map(({ infrastructureError }) => infrastructureError)).toEqual([null, null, null, null]);
    expect(Math.max(...mostOpen)).toBe(3);
    expect(workers.every(({ pool }) => pool.opened > 0)).toBe(true);
  });

  it('wait for room that other trainers have taken', async () => {
    const { url, pool } = await startWorker(1);
    const { arena } = await arenaOf([url]);
    const other = pool.openSession();
    setTimeout(() => void pool.closeSession(other), 60);
    const played = await play(arena, player(), undefined, never, parseSettings({ ...settings, groupSize: 2 }));
    expect(played.map(({ infrastructureError }) => infrastructureError)).toEqual([null, null]);
    expect(pool.refused).toBeGreaterThan(0);
  });

  it('are played again elsewhere where their worker is lost, and their group stays whole', async () => {
    const [first, second] = [await startWorker(2), await startWorker(2)];
    const { arena, notices } = await arenaOf([first.url, second.url]);
    // The slow command keeps every episode on its worker for a while.
    setTimeout(() => void first.server.close(), 150);
    const played = await play(arena);
    expect(played).toHaveLength(4);
    for (const { infrastructureError, grade } of played) {
      expect(infrastructureError).toBe(null);
      expect(grade?.resolved).toBe(true);
    }
    expect(second.pool.opened).toBe(4);
    expect(notices.filter((line) => line.includes(`${first.url} is lost`))).toHaveLength(1);
  });

  it('fail as a machine fails where their worker gives a reward that cannot be, and are never learned from', async () => {
    const { url } = await startWorker(4, task, (grade) => ({ ...grade, reward: 1e9 }));
    const { arena, notices } = await arenaOf([url]);
    const played: Trajectory[] = [];
    await expect(play(arena, player(), (one) => played.push(one))).rejects.toMatchObject({ kind: 'infrastructure' });
    expect(played.map(({ grade }) => grade)).toEqual([null, null, null, null]);
    expect(notices.join('\n')).toMatch(/its grade cannot be: the reward is 1000000000, and its components come to 1\./);
  });

  it('fail as a machine fails where no worker is left, and say which', async () => {
    const { server, url } = await startWorker();
    const { arena } = await arenaOf([url]);
    await server.close();
    await expect(play(arena)).rejects.toMatchObject({
      kind: 'infrastructure',
      message: expect.stringMatching(
        /^All 4 episodes failed: None of the workers can play\. The worker http/,
      ) as string,
    });
  });

  it('go on where a worker is back', async () => {
    const { server, url } = await startWorker();
    const { arena, notices } = await arenaOf([url], { patienceMs: 10_000 });
    await server.close();
    const playing = play(arena);
    await vi.waitFor(() => expect(notices).toHaveLength(1));
    const environment = await folderEnvironment({ 'src/low.js': SOURCE, 'test/low.test.js': 'strict\n' }, runTests);
    onTestFinished(() => environment.dispose());
    const grounds = { arena: environmentArena(environment, settings), episodeSeconds: 60 };
    const again = await serveOpenEnv(new SessionPool([task], { capacity: 4, groundsOf: () => grounds }), {
      ...{ host: '127.0.0.1', port: server.port, token: 'geheim', name: 'low', version: '1', sandbox: 'unconfined' },
      report: () => undefined,
      limits: { idleMs: 600_000, pingMs: 600_000, sendMs: 600_000, queuedMessages: 4 },
    });
    onTestFinished(() => again.close());
    expect((await playing).every(({ grade }) => grade?.resolved)).toBe(true);
    expect(notices.at(-1)).toBe(`The worker ${url} is back.`);
  });

  it('let go at once when they are cancelled', async () => {
    const { url, pool } = await startWorker();
    const { arena } = await arenaOf([url]);
    const abort = new AbortController();
    const playing = play(arena, player([call('run_command', { command: 'sleep 1' })]), undefined, abort.signal);
    await vi.waitFor(() => expect(pool.opened).toBe(4));
    abort.abort();
    await expect(playing).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('are not played where the worker has another task by that name', async () => {
    const { url } = await startWorker(4, { ...task, FAIL_TO_PASS: ['high'] });
    const { arena } = await arenaOf([url]);
    await expect(play(arena)).rejects.toMatchObject({
      kind: 'bad-input',
      message: `The worker ${url} does not have the task demo-1 as it is here: The task demo-1 is another one here.`,
    });
  });
});

describe('a worker', () => {
  it('that refuses the token, is none, or is not there stops a run before it begins', async () => {
    const { url } = await startWorker();
    vi.stubEnv('WHETSTONE_TOKEN', 'falsch');
    onTestFinished(() => void vi.unstubAllEnvs());
    const opening = (address: string) => openWorkers([address], () => undefined, never, quick);
    await expect(opening(url)).rejects.toMatchObject({
      kind: 'bad-input',
      message: `The worker ${url} refuses the token.`,
    });
    vi.stubEnv('WHETSTONE_TOKEN', '');
    await expect(opening(url)).rejects.toThrow(`The worker ${url} wants a token.`);
    const other = await page((_, response) => response.end('{"name":"other"}'));
    await expect(opening(other)).rejects.toThrow(`${other} is no worker of this version of Whetstone (status 200).`);
    const away = await page((_, response) => response.writeHead(302, { location: url }).end());
    await expect(opening(away)).rejects.toThrow(`The worker ${away} cannot be reached`);
    await expect(opening(await closedPort())).rejects.toThrow(/cannot be reached \(ECONNREFUSED\)/);
  });

  it.each([
    ['falls silent', { pingMs: 30 }, /it no longer answers/],
    ['sends what is no frame', {}, /what it sent is no frame of the protocol/],
    ['answers otherwise than it should', {}, /does not keep to the protocol: in its answer `observation`/],
  ])('that %s is lost', async (what, limits, message) => {
    const frames: Readonly<Record<string, string>> = {
      'sends what is no frame': '{"type":',
      'answers otherwise than it should': '{"type":"observation","data":{}}',
    };
    const url = await falseWorker((socket) => {
      const frame = frames[what];
      if (frame !== undefined) socket.once('data', () => socket.write(textFrame(frame)));
    });
    const { arena } = await arenaOf([url], limits);
    await expect(play(arena)).rejects.toThrow(message);
  });
});

async function closedPort() {
  const server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function page(answer: http.RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Says that it is a worker, shakes hands, and then does as it likes. */
async function falseWorker(speak: (socket: Duplex) => void) {
  const facts = { whetstone: { protocol: 1, sessions: 4, sandbox: 'none' } };
  const server = http.createServer((_, response) => response.end(JSON.stringify(facts)));
  server.on('upgrade', (request, socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.on('error', () => undefined);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    speak(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A short text frame as a server sends it. */
const textFrame = (text: string) => Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text)]);
