/**
 * Between the background process and its clients: JSON lines over a local socket (a named pipe on Windows). The token
 * in process.json must come first. Everything lasting is in the run directory; the socket only carries wishes and a
 * nudge that something new was written.
 */
export type ClientMessage =
  | { readonly type: 'hello'; readonly token: string }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'stop' };

export type ServerMessage =
  | { readonly type: 'welcome'; readonly runId: string; readonly pid: number }
  | { readonly type: 'changed' }
  | { readonly type: 'error'; readonly message: string };

/** `process.json` in the run directory. */
export interface ProcessRecord {
  readonly pid: number;
  readonly startedAt: string;
  readonly socket: string;
  readonly token: string;
}
