import { badInput } from '../../trajectory/errors.js';
import { t } from '../translate.js';

/** What a document of a task shows: its statement, or one side of what a patch changes in one file. */
export interface SideAddress {
  readonly root: string;
  readonly taskId: string;
  /** Where the task and the trajectory are looked up; empty for a stored task. */
  readonly runId: string;
  /** Whose patch it is where `what` is `predicted`; else empty. */
  readonly trajectoryId: string;
  readonly what: 'statement' | 'start' | 'oracle' | 'predicted';
  readonly side: 'before' | 'after';
  /** Relative to the repository's root, with `/`. */
  readonly file: string;
}

const fields = ['root', 'taskId', 'runId', 'trajectoryId', 'what', 'side', 'file'] as const;

/**
 * The parts of a document's URI: the path ends as the file does, so that its language is known; the address goes into the
 * query as base64url, where no character of a path meets the escaping rules of URIs.
 */
export function toSideUri(address: SideAddress): { path: string; query: string } {
  const query = Buffer.from(JSON.stringify(fields.map((field) => address[field]))).toString('base64url');
  return { path: `/${address.file.replace(/^\/+/, '')}`, query };
}

/** Throws bad-input where the query was not made by `toSideUri`. */
export function fromSideQuery(query: string): SideAddress {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(query, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  const isWhole = Array.isArray(parts) && parts.length === fields.length && parts.every((x) => typeof x === 'string');
  if (!isWhole) throw badInput(t('This address names no task.'), t('Open tasks from the Tasks view.'));
  return Object.fromEntries(
    fields.map((field, index) => [field, (parts as string[])[index]]),
  ) as unknown as SideAddress;
}
