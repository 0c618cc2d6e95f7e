import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmod, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { ErrorKind } from '../../trajectory/errors.js';
import type { Said } from '../../trajectory/said.js';
import { readLines } from './lines.js';
import { clientMessageSchema, type ProcessRecord, type ServerMessage } from './protocol.js';

/** What clients may wish for. */
export interface Wishes {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** The socket of a background process. */
export interface BackgroundServer {
  readonly record: ProcessRecord;
  /** Tells every client that something new was written; calls close together are one message. */
  changed(): void;
  /** Tells every client why the training failed. */
  failed(error: Said & { errorKind: ErrorKind }): void;
  close(): Promise<void>;
}

/** Nudges are at least this far apart. */
const nudgeMilliseconds = 100;
const longestLine = 64 * 1024;

/** Listens on a local socket (a named pipe on Windows) that only this user, knowing the token, can talk to. */
export async function startServer(runId: string, wishes: Wishes): Promise<BackgroundServer> {
  const token = randomBytes(24).toString('hex');
  // A short name: a Unix socket's path may hold about 100 bytes.
  const name = `whetstone-${randomBytes(6).toString('hex')}`;
  const socket = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : path.join(os.tmpdir(), `${name}.sock`);
  const welcomed = new Set<net.Socket>();
  const connections = new Set<net.Socket>();
  const server = net.createServer((connection) => {
    connections.add(connection);
    connection.on('error', () => connection.destroy());
    connection.on('close', () => {
      connections.delete(connection);
      welcomed.delete(connection);
    });
    serve(connection, token, wishes, () => {
      welcomed.add(connection);
      send(connection, { type: 'welcome', runId, pid: process.pid });
    });
  });
  const previousMask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socket, resolve);
    });
  } finally {
    process.umask(previousMask);
  }
  if (process.platform !== 'win32') await chmod(socket, 0o600);

  let nudge: NodeJS.Timeout | null = null;
  let lastNudge = -Infinity;
  const tellAll = () => {
    nudge = null;
    lastNudge = performance.now();
    for (const connection of welcomed) send(connection, { type: 'changed' });
  };
  return {
    record: { pid: process.pid, startedAt: new Date().toISOString(), socket, token },
    changed() {
      nudge ??= setTimeout(tellAll, Math.max(0, lastNudge + nudgeMilliseconds - performance.now()));
    },
    failed(error) {
      for (const connection of welcomed) send(connection, { type: 'ended', ...error });
    },
    async close() {
      if (nudge !== null) clearTimeout(nudge);
      tellAll();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections) connection.destroySoon();
      await closed;
      if (process.platform !== 'win32') await rm(socket, { force: true });
    },
  };
}

function serve(connection: net.Socket, token: string, wishes: Wishes, welcome: () => void): void {
  let known = false;
  let unread = 0;
  connection.on('data', (chunk: Buffer) => {
    unread = chunk.includes(0x0a) ? 0 : unread + chunk.length;
    if (unread > longestLine) connection.destroy();
  });
  readLines(connection, (line) => {
    const message = parse(line);
    if (message === null) return refuse(connection, 'not a message of the protocol');
    if (message.type === 'hello') {
      if (!sameText(message.token, token)) return refuse(connection, 'wrong token');
      known = true;
      return welcome();
    }
    if (!known) return refuse(connection, 'the token must come first');
    wishes[message.type]();
  });
}

function parse(line: string) {
  try {
    return clientMessageSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

function refuse(connection: net.Socket, message: string): void {
  send(connection, { type: 'error', message });
  connection.destroySoon();
}

function send(connection: net.Socket, message: ServerMessage): void {
  if (connection.writable) connection.write(`${JSON.stringify(message)}\n`);
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
