import { createHash, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { workerProtocol } from '../../trainer/workers/playTerms.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { actionSchema, ProtocolError, resetSchema, schemas, valid } from './messages.js';
import { metricsText, ServerCounters } from './metrics.js';
import type { SessionPool } from './sessionPool.js';
import { errorData, serveConnection, type ConnectionLimits } from './webSocketSession.js';

export interface ServeOptions {
  readonly host: string;
  /** 0 takes one that is free. */
  readonly port: number;
  /** What a client must show as `Authorization: Bearer …`; null where anybody who reaches the port may play. */
  readonly token: string | null;
  readonly name: string;
  readonly version: string;
  /** What confines the commands of episodes. */
  readonly sandbox: string;
  readonly limits: ConnectionLimits;
  /** Told of what went wrong here, not at the client. */
  readonly report: (error: unknown) => void;
}

export interface OpenEnvServer {
  readonly port: number;
  /** Refuses what is new, ends every session in order, and gives the port back. */
  close(): Promise<void>;
}

/** The longest frame or body that is read, in bytes. */
export const maxMessageBytes = 1 << 20;

/**
 * Serves sessions by OpenEnv's contract (openenv 0.10): WebSocket `/ws`, and over HTTP `/reset`, `/step`, `/state`, `/health`,
 * `/metadata`, `/schema`; `/metrics` for Prometheus beside them. As there, a request over HTTP has an environment of its own.
 */
export async function serveOpenEnv(pool: SessionPool, options: ServeOptions): Promise<OpenEnvServer> {
  const counters = new ServerCounters(options.report);
  const connections = new Set<Promise<void>>();
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false });
  const server = http.createServer((request, response) => {
    void answer(request, pool, counters, options)
      .catch((error: unknown) => {
        counters.failed(error);
        return reply(500, { detail: errorData(error).message });
      })
      .then(({ status, body, type }) => {
        response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body);
      });
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 120_000;
  // Room to be told that there is none, and for probes; never without a bound.
  server.maxConnections = pool.options.capacity + 64;
  server.on('upgrade', (request, socket: Duplex, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = pathOf(request) === '/ws' ? refusalOf(request, options.token) : 404;
    if (refusal !== null)
      return void socket.end(`HTTP/1.1 ${refusal} ${http.STATUS_CODES[refusal]}\r\nConnection: close\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = serveConnection(webSocket, pool, counters, options.limits).catch(() => webSocket.terminate());
      connections.add(connection);
      void connection.finally(() => connections.delete(connection));
    });
  });
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const client of sockets.clients) client.close(1001, 'the server ends');
      const late = setTimeout(() => sockets.clients.forEach((client) => client.terminate()), 2000);
      await pool.dispose();
      await Promise.allSettled(connections);
      clearTimeout(late);
      server.closeAllConnections();
      await stopped;
    },
  };
}

function listening(server: http.Server, { host, port }: ServeOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        badInput(
          say`${host}:${port} cannot be served (${String(error.code)}).`,
          'Choose another --host or --port.',
          error,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly type: string;
}
const reply = (status: number, value: unknown): Reply => ({
  status,
  body: JSON.stringify(value),
  type: 'application/json',
});

/** Paths over HTTP: what FastAPI would list, for whoever looks for the contract there. */
const methods: Readonly<Record<string, 'get' | 'post'>> = {
  '/reset': 'post',
  '/step': 'post',
  '/state': 'get',
  '/health': 'get',
  '/metadata': 'get',
  '/schema': 'get',
  '/mcp': 'post',
  '/metrics': 'get',
};

async function answer(
  request: http.IncomingMessage,
  pool: SessionPool,
  counters: ServerCounters,
  { token, name, version, sandbox }: ServeOptions,
): Promise<Reply> {
  const path = pathOf(request);
  // Probes carry no token, and learn nothing.
  if (path === '/health') return reply(200, { status: 'healthy' });
  const refusal = refusalOf(request, token);
  if (refusal !== null) return reply(refusal, { detail: http.STATUS_CODES[refusal] });
  if (path === '/openapi.json') {
    const paths = Object.fromEntries(Object.entries(methods).map(([route, method]) => [route, { [method]: {} }]));
    return reply(200, { openapi: '3.1.0', info: { title: `Whetstone: ${name}`, version: '1.0.0' }, paths });
  }
  if (!(path in methods)) return reply(404, { detail: 'Not Found' });
  if (request.method?.toLowerCase() !== methods[path]) return reply(405, { detail: 'Method Not Allowed' });
  switch (path) {
    case '/metadata':
      return reply(200, {
        name,
        description: `Mend ${name}: make its failing tests pass.`,
        version,
        whetstone: { protocol: workerProtocol, sessions: pool.options.capacity, sandbox },
      });
    case '/schema':
      return reply(200, schemas());
    case '/metrics':
      return { status: 200, body: metricsText(counters, pool), type: 'text/plain; version=0.0.4' };
    case '/state':
      return reply(200, { episode_id: null, step_count: 0, task_id: null, done: false });
    case '/mcp':
      return reply(200, { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Play over the WebSocket /ws.' } });
    default:
      return playOnce(path, await bodyOf(request), pool, counters);
  }
}

/** As OpenEnv's servers do: each request has a fresh environment, which is gone with the answer. */
async function playOnce(path: string, body: unknown, pool: SessionPool, counters: ServerCounters): Promise<Reply> {
  try {
    if (body === undefined) throw new ProtocolError('INVALID_JSON', 'The body is no JSON object, or too long.');
    if (path === '/step') {
      valid(actionSchema, (body as { action?: unknown }).action);
      throw new ProtocolError('EXECUTION_ERROR', 'A step needs the episode of a session: play over the WebSocket /ws.');
    }
    const reset = valid(resetSchema, body);
    const session = pool.openSession();
    try {
      counters.resets += 1;
      return reply(200, await session.reset(reset));
    } finally {
      await pool.closeSession(session);
    }
  } catch (error) {
    counters.failed(error);
    const data = errorData(error);
    const status = { CAPACITY_REACHED: 503, VALIDATION_ERROR: 422, INVALID_JSON: 422 }[String(data.code)] ?? 500;
    return reply(status, { detail: data.errors ?? data.message });
  }
}

/** The body's JSON; an empty one is `{}`. Undefined where it is none, or longer than what is read. */
async function bodyOf(request: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxMessageBytes) return undefined;
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const pathOf = ({ url = '/' }: http.IncomingMessage) => url.split('?')[0].replace(/(.)\/$/, '$1');

/**
 * Status of the refusal, or null. Without a token, a page in a browser must not reach what is only meant for programs of this
 * machine: browsers say where they come from.
 */
function refusalOf({ headers }: http.IncomingMessage, token: string | null): 401 | 403 | null {
  if (token === null) return headers.origin === undefined ? null : 403;
  const shown = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(shown), digest(token)) ? null : 401;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
