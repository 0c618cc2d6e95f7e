import { badInput } from '../../trajectory/errors.js';
import { t } from '../translate.js';

/** Where a trajectory is found again. */
export interface TrajectoryAddress {
  readonly stateFolder: string;
  readonly runId: string;
  readonly trajectoryId: string;
}

/** Characters. */
const longestTitle = 200;

/**
 * The parts of a document's URI. The address goes into the query as base64url, so that no path, whatever its
 * characters, meets the escaping rules of URIs; the path is only what the tab shows.
 */
export function toUriParts(address: TrajectoryAddress): { path: string; query: string } {
  const { stateFolder, runId, trajectoryId } = address;
  const title = Array.from(
    trajectoryId
      .slice(0, 1000)
      .replace(/[^\p{L}\p{N}._-]+/gu, ' ')
      .trim(),
  );
  const query = Buffer.from(JSON.stringify([stateFolder, runId, trajectoryId])).toString('base64url');
  return { path: `/${title.slice(0, longestTitle).join('')}.trajectory`, query };
}

/** Throws bad-input where the query was not made by `toUriParts`. */
export function fromUriQuery(query: string): TrajectoryAddress {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(query, 'base64url').toString('utf8'));
  } catch {
    parts = undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3 || !parts.every((part) => typeof part === 'string')) {
    throw badInput(t('This address names no trajectory.'), t('Open trajectories from the Runs view.'));
  }
  const [stateFolder, runId, trajectoryId] = parts as [string, string, string];
  return { stateFolder, runId, trajectoryId };
}
