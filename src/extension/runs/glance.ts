import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { runPaths, runsFolder } from '../../trainer/run/runDirectory.js';

/** How a repository's runs look from outside. */
export interface Glance {
  /** Folder of the run whose process lives; null where none does. */
  readonly live: string | null;
  /** Changes with whatever a listing of the runs would show: which there are, which lives, how far its files have grown. */
  readonly text: string;
}

/** A look that costs next to nothing: only the run whose process lives can grow. */
export async function glance(stateFolder: string): Promise<Glance> {
  const names = await readdir(runsFolder(stateFolder)).catch(() => []);
  if (names.length === 0) return { live: null, text: '' };
  const { trainLockHolder } = await import('../engine.js');
  const holder = await trainLockHolder(stateFolder);
  const live = holder && path.join(runsFolder(stateFolder), holder.runId);
  return { live, text: JSON.stringify([names, holder, live && (await sizes(live))]) };
}

function sizes(runFolder: string): Promise<number[]> {
  const { config, events, trajectories, learned, process } = runPaths(runFolder);
  const size = (file: string) =>
    stat(file).then(
      (found) => found.size,
      () => -1,
    );
  return Promise.all([config, events, trajectories, learned, process].map(size));
}
