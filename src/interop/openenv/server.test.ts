import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { cancelled, infrastructure } from '../../trajectory/errors.js';
import type { Grade } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Arena, ArenaEpisode } from '../../trainer/rollout/arena.js';
import { injectedTask } from '../fixture.testing.js';
import { maxMessageBytes, serveOpenEnv, type ServeOptions } from './server.js';
import { SessionPool } from './sessionPool.js';

const tasks: Task[] = ['a', 'b', 'c'].map((instance_id) => ({ ...injectedTask, instance_id }));
const grade: Grade = { reward: 0.75, resolved: false, components: {}, tests: [], files: [] };

const counters = {
  turns: 1,
  thoughtTurns: 0,
  toolCalls: {},
  malformedCalls: 0,
  unknownTools: 0,
  invalidArguments: 0,
  validCalls: 1,
  seconds: 0,
};

/** Episodes without a machine: `echo` answers, `wait` ends only with its signal, `fail` fails, `submit` ends. */
class ScriptedArena implements Arena {
  readonly sandbox = 'none';
  /** Episodes that are not disposed of. */
  readonly live = new Set<string>();
  /** Every step that was interrupted. */
  interrupted = 0;
  private count = 0;

  startEpisode(task: Task): Promise<ArenaEpisode> {
    const name = `${task.instance_id}-${this.count++}`;
    this.live.add(name);
    return Promise.resolve({
      prompt: [
        { role: 'system', content: name },
        { role: 'user', content: task.instance_id },
      ],
      tools: [],
      root: null,
      step: async ({ toolCalls: [call] }, signal) => {
        const content = call === undefined ? '' : await this.play(name, call, signal);
        const observations = [{ role: 'tool' as const, toolCallId: call?.id ?? '', name: call?.name ?? '', content }];
        return { observations, stopReason: call?.name === 'submit' ? 'submitted' : null };
      },
      statistics: () => counters,
      finish: () => {
        this.live.delete(name);
        return Promise.resolve({ grade, patch: '', counters });
      },
      dispose: () => {
        this.live.delete(name);
        return Promise.resolve();
      },
    });
  }

  private async play(
    episode: string,
    { name, arguments: values }: { name: string; arguments: Readonly<Record<string, unknown>> },
    signal?: AbortSignal,
  ): Promise<string> {
    if (name === 'fail') throw infrastructure('The disk is gone.', 'Mend it.');
    if (name === 'large') return 'x'.repeat(Number(values.size));
    if (name !== 'wait') return `${episode} ${String(values.text)}`;
    await once(signal!, 'abort');
    this.interrupted += 1;
    throw cancelled();
  }
}

interface Overrides {
  readonly pool?: { readonly capacity?: number; readonly episodeSeconds?: number };
  readonly limits?: Partial<ServeOptions['limits']>;
  readonly token?: string;
}

async function serve({ pool: { capacity = 4, episodeSeconds = 600 } = {}, limits, token }: Overrides = {}) {
  const arena = new ScriptedArena();
  const pool = new SessionPool(tasks, { capacity, groundsOf: () => ({ arena, episodeSeconds }) });
  const server = await serveOpenEnv(pool, {
    host: '127.0.0.1',
    port: 0,
    token: token ?? null,
    name: 'sums',
    version: '1',
    sandbox: arena.sandbox,
    report: () => undefined,
    limits: { idleMs: 600_000, pingMs: 600_000, sendMs: 600_000, queuedMessages: 4, ...limits },
  });
  onTestFinished(() => server.close());
  return { arena, pool, server, url: `127.0.0.1:${server.port}` };
}

type Frame = { type: string; data: Record<string, unknown> & { observation: { messages: { content: string }[] } } };

/** A client that waits for each answer. */
class Client {
  private readonly frames: Frame[] = [];
  private readonly waiting: ((frame: Frame) => void)[] = [];
  readonly closed: Promise<number>;

  constructor(readonly socket: WebSocket) {
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data as Buffer)) as Frame;
      const next = this.waiting.shift();
      if (next) next(frame);
      else this.frames.push(frame);
    });
    this.closed = new Promise((resolve) => socket.once('close', (code) => resolve(code)));
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Client> {
    const client = new Client(new WebSocket(`ws://${url}/ws`, { headers }));
    await once(client.socket, 'open');
    return client;
  }

  receive(): Promise<Frame> {
    const frame = this.frames.shift();
    return frame ? Promise.resolve(frame) : new Promise((resolve) => this.waiting.push(resolve));
  }

  ask(message: unknown): Promise<Frame> {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    return this.receive();
  }

  call(name: string, values: Record<string, unknown> = {}): Promise<Frame> {
    return this.ask(step(name, values));
  }
}

const step = (name: string, values: Record<string, unknown> = {}) => ({
  type: 'step',
  data: { tool_calls: [{ name, arguments: values }] },
});
const until = (condition: () => boolean) => vi.waitFor(() => expect(condition()).toBe(true), { timeout: 20_000 });

describe('sessions', () => {
  it('64 at once each play their own episode, and nothing is left of them', async () => {
    const { arena, pool, url } = await serve({ pool: { capacity: 64 } });
    const played = Array.from({ length: 64 }, async (_, number) => {
      const client = await Client.open(url);
      const { data } = await client.ask({
        type: 'reset',
        data: { task_id: tasks[number % 3].instance_id, episode_id: `e${number}` },
      });
      const [{ content: episode }] = data.observation.messages;
      for (let turn = 0; turn < 5; turn++) {
        const answer = await client.call('echo', { text: `${number}-${turn}` });
        expect(answer.data.observation.messages[0].content).toBe(`${episode} ${number}-${turn}`);
      }
      expect((await client.ask({ type: 'state' })).data).toEqual({
        episode_id: `e${number}`,
        step_count: 5,
        task_id: tasks[number % 3].instance_id,
        done: false,
      });
      expect((await client.call('submit')).data).toMatchObject({ reward: 0.75, done: true });
      client.socket.send(JSON.stringify({ type: 'close' }));
      await client.closed;
      return episode;
    });
    expect(new Set(await Promise.all(played)).size).toBe(64);
    await until(() => pool.active === 0);
    expect(arena.live.size).toBe(0);
  });

  it('one too many is told so, and a slot that was left is free again', async () => {
    const { pool, url } = await serve({ pool: { capacity: 1 } });
    const first = await Client.open(url);
    const second = await Client.open(url);
    expect((await second.receive()).data).toMatchObject({
      code: 'CAPACITY_REACHED',
      active_sessions: 1,
      max_sessions: 1,
    });
    expect(await second.closed).toBe(1013);
    first.socket.terminate();
    await until(() => pool.active === 0);
    expect((await (await Client.open(url)).ask({ type: 'reset' })).type).toBe('observation');
  });

  it('choose tasks by id, by seed, and one after the other', async () => {
    const { url } = await serve();
    const client = await Client.open(url);
    const taskOf = async (data: object) => (await client.ask({ type: 'reset', data })).data.observation;
    expect(await taskOf({ task_id: 'c' })).toMatchObject({ task_id: 'c' });
    expect(await taskOf({ seed: 4 })).toMatchObject({ task_id: 'b' });
    expect(await taskOf({})).toMatchObject({ task_id: 'a' });
    expect(await taskOf({ unknown: 1 })).toMatchObject({ task_id: 'b' });
    expect((await client.ask({ type: 'reset', data: { task_id: 'z' } })).data.code).toBe('VALIDATION_ERROR');
    expect((await client.ask({ type: 'reset', data: { split: 'heldout' } })).data.code).toBe('VALIDATION_ERROR');
  });

  it('a reset throws the episode before it away, and a step after the end is refused', async () => {
    const { arena, url } = await serve();
    const client = await Client.open(url);
    expect((await client.call('echo')).data.code).toBe('EXECUTION_ERROR');
    await client.ask({ type: 'reset' });
    await client.ask({ type: 'reset' });
    expect(arena.live.size).toBe(1);
    await client.call('submit');
    expect((await client.call('echo')).data.code).toBe('EXECUTION_ERROR');
  });

  it('an episode that is finished is graded as it stands, and told again', async () => {
    const { arena, pool, url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    const finish = { type: 'step', data: { finish: true } };
    const { data } = await client.ask(finish);
    expect(data).toMatchObject({ reward: 0.75, done: true, observation: { stop_reason: null, messages: [] } });
    expect((await client.ask(finish)).data).toEqual(data);
    expect(arena.live.size).toBe(0);
    expect((await client.call('echo')).data.code).toBe('EXECUTION_ERROR');
    const metrics = await (await fetch(`http://${url}/metrics`)).text();
    expect(metrics).toContain('whetstone_episodes_total 1\n');
    expect(pool.active).toBe(1);
  });

  it('an episode whose time is up is graded as it is', async () => {
    const { arena, url } = await serve({ pool: { episodeSeconds: 0.05 } });
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    const { data } = await client.call('wait');
    expect(data).toMatchObject({ reward: 0.75, done: true, observation: { stop_reason: 'time-limit' } });
    expect(arena.live.size).toBe(0);
  });

  it('a failing machine is an error and no reward', async () => {
    const { url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    expect((await client.call('fail')).data).toEqual({
      code: 'EXECUTION_ERROR',
      kind: 'infrastructure',
      message: 'The disk is gone. Mend it.',
    });
  });
});

describe('bad clients', () => {
  it.each([
    ['{"type":', 'INVALID_JSON'],
    ['[]', 'UNKNOWN_TYPE'],
    ['{"type":"reboot"}', 'UNKNOWN_TYPE'],
    ['{"type":"__proto__"}', 'UNKNOWN_TYPE'],
    ['{"type":"step"}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"text":"a","content":"b"}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"finish":true,"content":"b"}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"finish":true,"text":"b"}}', 'VALIDATION_ERROR'],
    ['{"type":"step","data":{"thinking":"a"}}', 'VALIDATION_ERROR'],
    ['{"type":"state","more":1}', 'VALIDATION_ERROR'],
    ['{"type":"reset","data":{"seed":-1}}', 'VALIDATION_ERROR'],
  ])('%s is answered with %s, and the session goes on', async (text, code) => {
    const { url } = await serve();
    const client = await Client.open(url);
    expect((await client.ask(text)).data.code).toBe(code);
    expect((await client.ask({ type: 'reset' })).type).toBe('observation');
  });

  it('too long a frame ends the connection and the session', async () => {
    const { arena, url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    client.socket.send('x'.repeat(maxMessageBytes + 1));
    expect(await client.closed).toBe(1009);
    await until(() => arena.live.size === 0);
  });

  it('too long a frame of a client that is refused harms nobody', async () => {
    const { url } = await serve({ pool: { capacity: 1 } });
    const first = await Client.open(url);
    const refused = await Client.open(url);
    refused.socket.send('x'.repeat(maxMessageBytes + 1));
    await refused.closed;
    expect((await first.ask({ type: 'reset' })).type).toBe('observation');
  });

  it('more messages than may wait end the connection', async () => {
    const { arena, url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    for (let count = 0; count < 6; count++) client.socket.send(JSON.stringify(step('wait')));
    expect(await client.closed).toBe(1008);
    await until(() => arena.live.size === 0);
  });

  it('one that leaves in the middle of a step stops it', async () => {
    const { arena, pool, url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    client.socket.send(JSON.stringify(step('wait')));
    await new Promise((resolve) => client.socket.ping(resolve));
    await once(client.socket, 'pong');
    client.socket.terminate();
    await until(() => pool.active === 0);
    expect(arena.interrupted).toBe(1);
    expect(arena.live.size).toBe(0);
  });

  it('one that is silent for too long is told so and cut off', async () => {
    const { pool, url } = await serve({ limits: { idleMs: 50 } });
    const client = await Client.open(url);
    expect((await client.receive()).data).toMatchObject({ code: 'SESSION_ERROR' });
    expect(await client.closed).toBe(1001);
    await until(() => pool.active === 0);
  });

  it('a half-open one, which answers no ping, does not hold its slot', async () => {
    const { pool, server } = await serve({ limits: { pingMs: 50 } });
    const socket = await rawClient(server.port);
    await until(() => pool.opened === 1);
    await until(() => pool.active === 0);
    socket.destroy();
  });

  it('one that does not read its answers is cut off', async () => {
    const { arena, pool, server } = await serve({ limits: { sendMs: 100 } });
    const socket = await rawClient(server.port);
    socket.pause();
    socket.write(clientFrame(JSON.stringify({ type: 'reset' })));
    socket.write(clientFrame(JSON.stringify(step('large', { size: 64 * 1024 * 1024 }))));
    await until(() => pool.opened === 1 && pool.active === 0);
    expect(arena.live.size).toBe(0);
    socket.destroy();
  });
});

describe('the door', () => {
  it('wants the token on everything but the health', async () => {
    const { url } = await serve({ token: 'geheim' });
    const status = async (path: string, authorization?: string) =>
      (await fetch(`http://${url}${path}`, { headers: authorization ? { authorization } : {} })).status;
    expect(await status('/health')).toBe(200);
    expect(await status('/metrics')).toBe(401);
    expect(await status('/metrics', 'Bearer geheim2')).toBe(401);
    expect(await status('/metrics', 'Bearer geheim')).toBe(200);
    await expect(Client.open(url)).rejects.toThrow('401');
    await Client.open(url, { authorization: 'Bearer geheim' });
  });

  it('lets no page of a browser in where there is no token', async () => {
    const { url } = await serve();
    await expect(Client.open(url, { origin: 'http://evil.example' })).rejects.toThrow('403');
    const request = fetch(`http://${url}/reset`, { method: 'POST', headers: { origin: 'http://evil.example' } });
    expect((await request).status).toBe(403);
  });

  it('answers over HTTP as the contract has it', async () => {
    const { arena, url } = await serve();
    const ask = async (path: string, body?: unknown) => {
      const method = body === undefined ? 'GET' : 'POST';
      const response = await fetch(`http://${url}${path}`, {
        method,
        body: body === undefined ? null : JSON.stringify(body),
      });
      return [response.status, await response.json()] as const;
    };
    expect(await ask('/health')).toEqual([200, { status: 'healthy' }]);
    expect(await ask('/schema')).toMatchObject([200, { action: { type: 'object' }, observation: {}, state: {} }]);
    expect(await ask('/reset', { task_id: 'b' })).toMatchObject([
      200,
      { observation: { task_id: 'b' }, reward: null, done: false },
    ]);
    expect(await ask('/reset', { seed: 'x' })).toMatchObject([422, { detail: [{ loc: ['seed'] }] }]);
    expect((await ask('/step', { action: { tool_calls: [] } }))[0]).toBe(500);
    expect((await ask('/nowhere'))[0]).toBe(404);
    expect((await ask('/reset'))[0]).toBe(405);
    expect(arena.live.size).toBe(0);
  });

  it('closes with the sessions that are open, and gives the port back', async () => {
    const { arena, server, url } = await serve();
    const client = await Client.open(url);
    await client.ask({ type: 'reset' });
    client.socket.send(JSON.stringify(step('wait')));
    await server.close();
    expect(await client.closed).toBe(1001);
    expect(arena.live.size).toBe(0);
    await expect(fetch(`http://${url}/health`)).rejects.toThrow();
  });
});

/** A client that shook hands and does nothing by itself. */
async function rawClient(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const key = Buffer.alloc(16).toString('base64');
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  await once(socket, 'data');
  return socket;
}

/** A text frame as a client sends it, with a mask of zeros. */
function clientFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
