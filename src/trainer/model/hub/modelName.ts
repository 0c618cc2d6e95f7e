import { existsSync } from 'node:fs';
import path from 'node:path';

/** A model on the hub, as `--model` names it: `owner/name`, `owner/name@revision`, `owner/name:file.gguf`. */
export interface HubModel {
  /** `owner/name`. */
  readonly repo: string;
  /** A branch, a tag, or a commit's hash. */
  readonly revision: string;
  /** The one GGUF file that is wanted; null for a model in Hugging Face layout. */
  readonly file: string | null;
}

const part = '[A-Za-z0-9][A-Za-z0-9._-]{0,95}';
const pattern = new RegExp(`^(${part}/${part})(?:@([A-Za-z0-9._/-]{1,100}))?(?::([A-Za-z0-9._-]{1,200}\\.gguf))?$`);

/** Null where the text cannot be the name of a model on the hub. */
export function parseHubModel(text: string): HubModel | null {
  const [, repo, revision = 'main', file = null] = pattern.exec(text) ?? [];
  // Two dots would lead out of the cache's folder.
  if (repo === undefined || text.includes('..') || /\.(gguf|git)$/.test(repo)) return null;
  return { repo, revision, file };
}

/** The name that `parseHubModel` reads back. */
export const hubModelName = ({ repo, revision, file }: HubModel): string =>
  `${repo}${revision === 'main' ? '' : `@${revision}`}${file === null ? '' : `:${file}`}`;

/**
 * What a setting names, found from `folder` on: `embedded` and names on the hub stay as they are, all else is a path. What
 * exists on the disk is never looked for on the hub.
 */
export function modelPlace(model: string, folder: string): string {
  const place = path.resolve(folder, model);
  return model === 'embedded' || (parseHubModel(model) !== null && !existsSync(place)) ? model : place;
}
