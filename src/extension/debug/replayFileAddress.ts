import type { Place } from './snapshots.js';

/** A file of a replay, as it was at some turn. */
export interface ReplayFileAddress {
  readonly sessionId: string;
  readonly place: Place;
  /** Relative to the repository's root, with `/`. */
  readonly path: string;
}

/**
 * The parts of a file's URI. The path is the file's, so that its language is known; the address itself goes into the
 * query as base64url, so that no character of a name meets the escaping rules of URIs.
 */
export function toFileUriParts({ sessionId, place, path }: ReplayFileAddress): { path: string; query: string } {
  // Two slashes at the start would make an authority of the first folder's name.
  const shown = `/${path.replace(/^[/\\]+/, '')}`;
  return { path: shown, query: Buffer.from(JSON.stringify([sessionId, place, path])).toString('base64url') };
}

/** Undefined where the query was not made by `toFileUriParts`. */
export function fromFileUriQuery(query: string): ReplayFileAddress | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(query, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [sessionId, place, path] = parts as unknown[];
  if (typeof sessionId !== 'string' || typeof path !== 'string') return undefined;
  if (place !== 'oracle' && typeof place !== 'number') return undefined;
  return { sessionId, place, path };
}
