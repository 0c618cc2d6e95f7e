import type { Workspace } from '../workspace/workspace.js';
import { readTextFile, resolveInTree, type Problem } from './treeFiles.js';

/** A file as it was when the episode began, and its path in the tree; one that is new since then as it is. */
export async function startText(
  workspace: Workspace,
  written: string,
): Promise<{ readonly path: string; readonly absolute: string; readonly text: string } | Problem> {
  const place = await resolveInTree(workspace, written);
  if ('problem' in place) return place;
  const file = await readTextFile(place);
  if ('problem' in file) return file;
  const changed = (await workspace.changes()).find(({ path }) => path === place.path);
  return { path: place.path, absolute: place.absolute, text: changed?.before ?? file.text };
}
