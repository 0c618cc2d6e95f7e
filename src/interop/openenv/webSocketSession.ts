import type { WebSocket } from 'ws';
import { WhetstoneError } from '../../trajectory/errors.js';
import { parseIncoming, ProtocolError, type Incoming, type Observation } from './messages.js';
import type { ServerCounters } from './metrics.js';
import type { Session } from './session.js';
import type { SessionPool } from './sessionPool.js';

export interface ConnectionLimits {
  /** Without a message for so long, a session ends. */
  readonly idleMs: number;
  /** A ping goes out this often; a connection that has not answered by the next one is dead. */
  readonly pingMs: number;
  /** So long a client may take to read one answer. */
  readonly sendMs: number;
  /** Messages that a client may send before the first is answered. */
  readonly queuedMessages: number;
}

/**
 * Plays a session over its connection: one message after the other is answered, in order. When the connection closes, for
 * whatever reason, the session ends at once and its worktree is deleted.
 */
export async function serveConnection(
  socket: WebSocket,
  pool: SessionPool,
  counters: ServerCounters,
  limits: ConnectionLimits,
): Promise<void> {
  // Too long a frame, or one that is none: the library closes with the code that says so. Without a listener, an error of one
  // client's would end the process, that of a client who is refused too.
  socket.on('error', () => dropUnlessClosed(socket, limits));
  let session: Session;
  try {
    session = pool.openSession();
  } catch (error) {
    await send(socket, errorFrame(error, counters), limits).catch(() => undefined);
    socket.close(1013, 'no session is free');
    dropUnlessClosed(socket, limits);
    return;
  }
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const end = (code: number, reason: string) => {
    socket.close(code, reason);
    dropUnlessClosed(socket, limits);
  };
  let waiting = 0;
  let work: Promise<void> = Promise.resolve();
  const idle = setTimeout(() => {
    // What a step takes is no idleness of the client.
    if (waiting > 0) return void idle.refresh();
    const error = new ProtocolError('SESSION_ERROR', `No message came for ${limits.idleMs / 1000} seconds.`);
    void send(socket, errorFrame(error, counters), limits)
      .catch(() => undefined)
      .finally(() => end(1001, 'idle'));
  }, limits.idleMs);
  const stopPings = keepAlive(socket, limits);

  socket.on('message', (data, isBinary) => {
    idle.refresh();
    if (waiting >= limits.queuedMessages) return end(1008, 'too many messages at once');
    waiting += 1;
    work = work.then(async () => {
      if (socket.readyState !== socket.OPEN) return;
      const frame = await answerTo(isBinary ? null : String(data as Buffer), session, counters);
      waiting -= 1;
      idle.refresh();
      if (frame === null) return end(1000, 'closed');
      // A client that does not read its answer in time is cut off.
      await send(socket, frame, limits).catch(() => socket.terminate());
    });
  });

  await closed;
  clearTimeout(idle);
  stopPings();
  await pool.closeSession(session);
  await work;
}

/** The frame that answers a message; null where the client said that it goes. */
async function answerTo(text: string | null, session: Session, counters: ServerCounters): Promise<object | null> {
  const started = performance.now();
  try {
    if (text === null) throw new ProtocolError('INVALID_JSON', 'Invalid JSON: a binary frame.');
    return await play(parseIncoming(text), session, counters);
  } catch (error) {
    return errorFrame(error, counters);
  } finally {
    counters.seconds += (performance.now() - started) / 1000;
  }
}

async function play(message: Incoming, session: Session, counters: ServerCounters): Promise<object | null> {
  switch (message.type) {
    case 'reset':
      counters.resets += 1;
      return { type: 'observation', data: await session.reset(message.data) };
    case 'step': {
      counters.steps += 1;
      const wasOver = session.state().done;
      const data = await session.step(message.data);
      return { type: 'observation', data: wasOver ? data : counted(data, counters) };
    }
    case 'state':
      return { type: 'state', data: session.state() };
    case 'close':
      return null;
  }
}

function counted(data: Observation, counters: ServerCounters): Observation {
  if (data.reward !== null) {
    counters.episodes += 1;
    counters.rewards += data.reward;
  }
  return data;
}

function errorFrame(error: unknown, counters: ServerCounters): object {
  counters.failed(error);
  return { type: 'error', data: errorData(error) };
}

/** What a client is told of an error. A machine's failure is no reward of 0: its episode is to be left out. */
export function errorData(error: unknown): Readonly<Record<string, unknown>> {
  if (error instanceof ProtocolError) return { message: error.message, code: error.code, ...error.details };
  const message = error instanceof WhetstoneError ? error.line : 'The server failed.';
  return { message, code: 'EXECUTION_ERROR', ...(error instanceof WhetstoneError ? { kind: error.kind } : {}) };
}

/** Settles once the frame has left for the network; fails where it does not in time. */
function send(socket: WebSocket, frame: object, { sendMs }: ConnectionLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.readyState !== socket.OPEN) return resolve();
    const late = setTimeout(() => reject(new Error('the client does not read')), sendMs);
    socket.send(JSON.stringify(frame), (error) => {
      clearTimeout(late);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Ends a connection whose other side has gone without a word. Returns what stops the pings. */
function keepAlive(socket: WebSocket, { pingMs }: ConnectionLimits): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  socket.on('message', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs);
  return () => clearInterval(timer);
}

/** A client that does not answer the closing of its connection is cut off. */
function dropUnlessClosed(socket: WebSocket, { sendMs }: ConnectionLimits): void {
  const timer = setTimeout(() => socket.terminate(), sendMs);
  socket.once('close', () => clearTimeout(timer));
  if (socket.readyState === socket.CLOSED) clearTimeout(timer);
}
