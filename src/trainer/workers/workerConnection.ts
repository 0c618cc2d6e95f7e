import { WebSocket } from 'ws';
import { cancelled, infrastructure, type WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { frameSchema, type WorkerErrorData } from './workerFrames.js';

export interface ConnectionLimits {
  /** So long a worker may take to let one in. */
  readonly connectMs: number;
  /** A ping goes out this often; a worker that has been silent for three of them is gone. */
  readonly pingMs: number;
}

/** A worker's own word that something did not go; the connection is as good as before. */
export class WorkerRefusal extends Error {
  constructor(readonly data: WorkerErrorData) {
    super(data.message);
    this.name = 'WorkerRefusal';
  }
}

/** Where a worker is, and what it wants to be shown. */
export interface WorkerAddress {
  /** Of the server: http or https, without the path. */
  readonly url: string;
  readonly token: string | null;
}

/** The longest frame that is read: an answer holds a patch and observations, which are cut. */
const maxFrameBytes = 64 << 20;

interface Waiting {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** One session with a worker. Whatever goes wrong with the connection ends it: then everything that waits fails. */
export class WorkerConnection {
  /** In the order of their questions, as answers come. */
  private readonly waiting: Waiting[] = [];
  private lost: WhetstoneError | null = null;
  private silentPings = 0;
  private readonly pings: NodeJS.Timeout;

  private constructor(
    private readonly socket: WebSocket,
    private readonly url: string,
    limits: ConnectionLimits,
  ) {
    socket.on('message', (data, isBinary) => this.receive(isBinary ? null : String(data as Buffer)));
    socket.on('close', (code) => this.lose(`it closed the connection, code ${code}`));
    for (const event of ['message', 'ping', 'pong']) socket.on(event, () => (this.silentPings = 0));
    this.pings = setInterval(() => {
      if (this.silentPings === 3) return this.lose('it no longer answers');
      this.silentPings += 1;
      socket.ping();
    }, limits.pingMs);
  }

  /** Throws `infrastructure` where the worker is not reached or does not let one in, `cancelled` where `signal` aborts. */
  static open({ url, token }: WorkerAddress, limits: ConnectionLimits, signal: AbortSignal): Promise<WorkerConnection> {
    if (signal.aborted) return Promise.reject(cancelled());
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
      handshakeTimeout: limits.connectMs,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
    });
    return new Promise((resolve, reject) => {
      const abort = () => socket.terminate();
      signal.addEventListener('abort', abort, { once: true });
      // It stays: an error without a listener would end the process.
      socket.on('error', (error) => {
        signal.removeEventListener('abort', abort);
        reject(signal.aborted ? cancelled() : unreachable(url, error.message));
      });
      socket.once('open', () => {
        signal.removeEventListener('abort', abort);
        resolve(new WorkerConnection(socket, url, limits));
      });
    });
  }

  /**
   * Sends a frame and waits for its answer: the data of an observation. Throws WorkerRefusal where the worker says that it
   * does not go, `infrastructure` where it is lost or takes longer than `ms`, `cancelled` where `signal` aborts (the answer
   * is then read and thrown away).
   */
  ask(frame: object, ms: number, signal?: AbortSignal): Promise<unknown> {
    if (this.lost) return Promise.reject(this.lost);
    if (signal?.aborted) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.lose(`no answer came in ${Math.round(ms / 1000)} seconds`), ms);
      const abort = () => reject(cancelled());
      signal?.addEventListener('abort', abort, { once: true });
      const settle = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', abort);
      };
      this.waiting.push({
        resolve: (data) => {
          settle();
          resolve(data);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.socket.send(JSON.stringify(frame));
    });
  }

  /** The worker then deletes the session's tree. Safe to call twice. */
  close(): void {
    this.lose('the session has ended');
  }

  private receive(text: string | null): void {
    let frame;
    try {
      frame = frameSchema.parse(JSON.parse(text ?? ''));
    } catch {
      return this.lose('what it sent is no frame of the protocol');
    }
    const next = this.waiting.shift();
    // A word that nobody asked for: it says why the session ends.
    if (next === undefined) return this.lose(frame.type === 'error' ? frame.data.message : 'it spoke out of turn');
    if (frame.type === 'error') next.reject(new WorkerRefusal(frame.data));
    else next.resolve(frame.data);
  }

  private lose(reason: string): void {
    if (this.lost) return;
    this.lost = unreachable(this.url, reason);
    clearInterval(this.pings);
    for (const { reject } of this.waiting.splice(0)) reject(this.lost);
    // A worker that is cut off would never answer a polite goodbye.
    this.socket.terminate();
  }
}

const unreachable = (url: string, reason: string) =>
  infrastructure(say`The worker ${url} is lost: ${reason}.`, 'Look whether it still runs and can be reached.');
