import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { constants, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { WhetstoneError } from '../../../trajectory/errors.js';
import { say } from '../../../trajectory/said.js';
import { cancelled, infrastructure } from '../../../trajectory/errors.js';

export interface Blob {
  readonly url: string;
  readonly size: number;
  /** SHA-256 of the content, or git's SHA-1 of it as a blob. */
  readonly checksum: { readonly kind: 'sha256' | 'git'; readonly hex: string };
}

export interface DownloadOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of the blob that are there. */
  readonly onBytes?: (done: number) => void;
  /** Longest wait for the next bytes, in milliseconds. */
  readonly stallMs: number;
  /** Wait before it goes on after a broken connection, in milliseconds; doubled at each that brought nothing. */
  readonly retryMs: number;
}

/** Broken connections in a row that brought nothing. */
const mostFailures = 4;

/** The server's answer will not change when it is asked again. */
class Refused extends Error {}

/**
 * Downloads a blob to `target`, which is whole, with the right checksum, or absent. Goes on where an earlier attempt ended;
 * several processes may fetch the same blob, as they write the same bytes at the same places.
 */
export async function downloadBlob(blob: Blob, target: string, options: DownloadOptions): Promise<void> {
  const incomplete = `${target}.incomplete`;
  await mkdir(path.dirname(target), { recursive: true });
  for (let wrong = 0; ; wrong++) {
    await fetchRest(blob, incomplete, options);
    if (await isBlob(incomplete, blob)) break;
    await rm(incomplete, { force: true });
    // Another process was first, and renamed what both wrote.
    if (await isBlob(target, blob)) return;
    if (wrong > 0) {
      const message = say`What ${blob.url} gives does not have the checksum ${blob.checksum.hex}.`;
      throw infrastructure(message, 'Try another mirror, or later.');
    }
  }
  await rename(incomplete, target).catch(async (error: unknown) => {
    if (!(await isBlob(target, blob))) throw error;
  });
}

async function fetchRest(blob: Blob, incomplete: string, options: DownloadOptions): Promise<void> {
  let failures = 0;
  for (;;) {
    const before = await sizeOf(incomplete);
    if (before >= blob.size) return;
    try {
      await fetchOnce(blob, incomplete, before, options);
      if ((await sizeOf(incomplete)) >= blob.size) return;
      throw new Error('the connection ended early');
    } catch (error) {
      if (options.signal?.aborted) throw cancelled();
      failures = (await sizeOf(incomplete)) > before ? 0 : failures + 1;
      if (error instanceof Refused || isOfTheDisk(error) || failures >= mostFailures) throw failureOf(blob.url, error);
      await new Promise((resolve) => setTimeout(resolve, options.retryMs * 2 ** failures));
    }
  }
}

async function fetchOnce(blob: Blob, incomplete: string, from: number, options: DownloadOptions): Promise<void> {
  const stall = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stall.signal]) : stall.signal;
  let timer: NodeJS.Timeout | undefined;
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stall.abort(new Error(`no bytes for ${options.stallMs} ms`)), options.stallMs);
  };
  alive();
  try {
    const headers = from > 0 ? { ...options.headers, Range: `bytes=${from}-` } : options.headers;
    const response = await fetch(blob.url, { headers, signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      // Too many requests and faults of the server may pass.
      const passing = response.status === 429 || response.status >= 500;
      throw new (passing ? Error : Refused)(`the server answers ${response.status}`);
    }
    // A server that does not know ranges sends everything again.
    let at = response.status === 206 ? startOf(response, from) : 0;
    // Not emptied: another process may be writing the same bytes.
    const file = await open(incomplete, constants.O_RDWR | constants.O_CREAT);
    try {
      const reader = response.body.getReader();
      for (;;) {
        const { done, value: chunk } = await reader.read();
        if (done) break;
        alive();
        if (at + chunk.length > blob.size) throw new Refused(`it sends more than the ${blob.size} bytes that it named`);
        await file.write(chunk, 0, chunk.length, at);
        at += chunk.length;
        options.onBytes?.(at);
      }
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Where the bytes of a partial answer start. */
function startOf(response: Response, from: number): number {
  const start = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '')?.[1];
  if (Number(start) !== from) throw new Refused(`it sends another part of the file than was asked for`);
  return from;
}

async function isBlob(file: string, { size, checksum }: Blob): Promise<boolean> {
  if ((await sizeOf(file)) !== size) return false;
  const hash: Hash =
    checksum.kind === 'sha256' ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`, 'latin1');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  return hash.digest('hex') === checksum.hex;
}

const sizeOf = async (file: string): Promise<number> => (await stat(file).catch(() => ({ size: 0 }))).size;

const isOfTheDisk = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(ENOSPC|EACCES|EROFS|EDQUOT|EPERM)$/.test(String(error.code));

function failureOf(url: string, error: unknown): WhetstoneError {
  return infrastructure(
    say`Cannot fetch ${url}: ${reasonOf(error)}.`,
    'Try again: what is there already is kept.',
    error,
  );
}

/** fetch says only that it failed; the cause says why. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}
