import { existsSync, statSync } from 'node:fs';
import net from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readLines } from './lines.js';
import type { ClientMessage } from './protocol.js';
import { startServer, type BackgroundServer } from './server.js';

let server: BackgroundServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

/** A client by hand: what it hears, in order, until the server hangs up. */
function talk(messages: readonly (ClientMessage | string)[]) {
  const socket = net.connect(server!.record.socket);
  const heard: { type: string }[] = [];
  let wake: () => void = () => undefined;
  readLines(socket, (line) => {
    heard.push(JSON.parse(line) as { type: string });
    wake();
  });
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  socket.on('error', () => undefined);
  for (const message of messages) {
    socket.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  }
  const hears = async (type: string) => {
    while (!heard.some((message) => message.type === type)) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { socket, heard, closed, hears };
}

async function listen() {
  const wishes: string[] = [];
  let wished: () => void = () => undefined;
  const note = (wish: string) => () => {
    wishes.push(wish);
    if (wish === 'stop') wished();
  };
  const stopped = new Promise<void>((resolve) => (wished = resolve));
  server = await startServer('r1', { pause: note('pause'), resume: note('resume'), stop: note('stop') });
  return { wishes, stopped };
}

describe('the socket of the background process', () => {
  it('welcomes who knows the token, carries wishes, and tells of changes', async () => {
    const { wishes, stopped } = await listen();
    const { token } = server!.record;
    const client = talk([{ type: 'hello', token }, { type: 'pause' }, { type: 'resume' }, { type: 'stop' }]);
    await client.hears('welcome');
    await stopped;
    expect(wishes).toEqual(['pause', 'resume', 'stop']);
    for (let i = 0; i < 50; i++) server!.changed();
    await client.hears('changed');
    expect(client.heard).toEqual([{ type: 'welcome', runId: 'r1', pid: process.pid }, { type: 'changed' }]);
    client.socket.destroy();
  });

  it.each([
    ['a wrong token', [{ type: 'hello', token: 'x' }, { type: 'stop' }]],
    ['no token', [{ type: 'stop' }]],
    ['no message at all', ['stop!']],
    ['an unknown message', [JSON.stringify({ type: 'toString' })]],
  ] as [string, (ClientMessage | string)[]][])('hangs up on %s and fulfils nothing', async (_, messages) => {
    const { wishes } = await listen();
    const client = talk(messages);
    await client.closed;
    expect(client.heard.map(({ type }) => type)).toEqual(['error']);
    expect(wishes).toEqual([]);
  });

  it('hangs up on a line without end', async () => {
    await listen();
    const client = talk(['x'.repeat(200_000)]);
    await client.closed;
  });

  it('is only this user’s, and gone after closing', async () => {
    await listen();
    const { socket } = server!.record;
    if (process.platform !== 'win32') expect(statSync(socket).mode & 0o777).toBe(0o600);
    await server!.close();
    server = null;
    expect(existsSync(socket)).toBe(false);
  });
});
