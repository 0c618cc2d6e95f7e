import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { badInput, type WhetstoneError } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { problemOf } from './problemOf.js';
import type { CheckpointSettings } from './routeSettings.js';
import { flush, storageError } from './storage.js';

const stateSchema = z.object({
  version: z.literal(1),
  /** Optimizer steps taken: the weights are those that play step + 1. */
  step: z.int().nonnegative(),
  seed: z.int().nonnegative(),
  /** How many groups the curriculum has dealt. Every random stream is derived from seed and step, so this is all. */
  curriculumCursor: z.int().nonnegative(),
  /** Mean reward of the step's rollouts; null where nothing was graded. */
  reward: z.number().nullable(),
  /** Step 0 only: supervised updates of a warm start that is not over. */
  warmStartUpdates: z.int().positive().optional(),
  /** The last step of a stage: what the next one is held against. */
  stageEnd: z.boolean().optional(),
});
/** `state.json` of a checkpoint: what training needs beside the weights and the optimizer. */
export type CheckpointState = z.infer<typeof stateSchema>;

export interface Checkpoint {
  readonly folder: string;
  readonly state: CheckpointState;
}

/** A checkpoint whose state cannot be read. */
export interface BrokenCheckpoint {
  readonly folder: string;
  /** As the folder's name says it. */
  readonly step: number;
  /** What is wrong with it, in a few words. */
  readonly problem: string;
  /** The same with where that is and how to mend it; of kind bad-input. */
  readonly error: WhetstoneError;
}

const folderName = (step: number) => `step-${String(step).padStart(6, '0')}`;

export type KeptCheckpoints = Pick<CheckpointSettings, 'keepLast' | 'keepBest' | 'keepEvery'>;
const keptByDefault: KeptCheckpoints = { keepLast: 2, keepBest: true, keepEvery: 0 };

/**
 * Writes a checkpoint: `save` fills a temporary folder, which is flushed and renamed into place, so a checkpoint is whole
 * or absent. Afterwards only those that `kept` names, those that end a stage and that of step 0 are left.
 */
export async function writeCheckpoint(
  checkpoints: string,
  state: CheckpointState,
  save: (folder: string) => Promise<void>,
  kept = keptByDefault,
): Promise<Checkpoint> {
  const folder = path.join(checkpoints, folderName(state.step));
  const draft = path.join(checkpoints, `.${folderName(state.step)}`);
  try {
    await removeLeftovers(checkpoints);
    await mkdir(draft, { recursive: true });
    await save(draft);
    await writeFile(path.join(draft, 'state.json'), `${JSON.stringify(state, null, 2)}\n`);
    for (const name of await readdir(draft)) await flush(path.join(draft, name), 'file');
    await flush(draft, 'folder');
    await remove(folder);
    await rename(draft, folder);
    await flush(checkpoints, 'folder');
    await prune(checkpoints, kept);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw storageError(error, folder);
  }
  return { folder, state };
}

/** Checkpoints of a run, oldest first, with those among them that are broken. */
export async function findCheckpoints(checkpoints: string): Promise<(Checkpoint | BrokenCheckpoint)[]> {
  const names = await readdir(checkpoints).catch(() => []);
  const found = names.filter((name) => /^step-\d+$/.test(name)).sort();
  return Promise.all(found.map((name) => readCheckpoint(path.join(checkpoints, name))));
}

/** Checkpoints of a run, oldest first. Throws bad-input where one is broken. */
export async function listCheckpoints(checkpoints: string): Promise<Checkpoint[]> {
  return (await findCheckpoints(checkpoints)).map(wholeOne);
}

export async function latestCheckpoint(checkpoints: string): Promise<Checkpoint | null> {
  return (await listCheckpoints(checkpoints)).at(-1) ?? null;
}

/** Optimizer steps behind a checkpoint, also of a broken one. */
export const stepOf = (found: Checkpoint | BrokenCheckpoint): number =>
  'error' in found ? found.step : found.state.step;

/** Throws what is wrong with a checkpoint that is broken. */
export function wholeOne(found: Checkpoint | BrokenCheckpoint): Checkpoint {
  if ('error' in found) throw found.error;
  return found;
}

async function readCheckpoint(folder: string): Promise<Checkpoint | BrokenCheckpoint> {
  try {
    const text = await readFile(path.join(folder, 'state.json'), 'utf8');
    return { folder, state: stateSchema.parse(JSON.parse(text)) };
  } catch (error) {
    const step = Number(path.basename(folder).slice('step-'.length));
    const problem = `state.json: ${problemOf(error)}`;
    const words = say`The checkpoint ${folder} is broken (${problem}).`;
    const remedy = 'Delete its folder to go on from the one before.';
    return { folder, step, problem, error: badInput(words, remedy, error) };
  }
}

/** The weights that stages are held against: that of step 0 where the warm start is over, and the last of each stage. */
export const isReference = ({ state }: Checkpoint) =>
  state.step === 0 ? state.warmStartUpdates === undefined : state.stageEnd === true;

async function prune(checkpoints: string, { keepLast, keepBest, keepEvery }: KeptCheckpoints): Promise<void> {
  const all = await listCheckpoints(checkpoints);
  const rewards = all.map(({ state }) => state.reward ?? -Infinity);
  const best = keepBest ? all[rewards.lastIndexOf(Math.max(...rewards))] : undefined;
  const regular = all.filter(({ state }) => keepEvery > 0 && state.step > 0 && state.step % keepEvery === 0);
  const kept = new Set([...all.slice(-keepLast), best, ...regular, ...all.filter(isReference)]);
  for (const checkpoint of all) {
    if (!kept.has(checkpoint)) await remove(checkpoint.folder);
  }
}

/**
 * Removes checkpoints, the oldest first, until what `size` measures is within `most` bytes; the newest and the last
 * reference stay, since the run cannot go on without them. Resolves to the size that is left.
 */
export async function pruneToSize(checkpoints: string, most: number, size: () => Promise<number>): Promise<number> {
  const all = await listCheckpoints(checkpoints);
  const needed = new Set([all.at(-1), all.filter(isReference).at(-1)]);
  let bytes = await size();
  for (const checkpoint of all.filter((one) => !needed.has(one))) {
    if (bytes <= most) break;
    await remove(checkpoint.folder);
    bytes = await size();
  }
  return bytes;
}

/** Hidden by a rename first: a kill half-way through a deletion must not leave half a checkpoint to be found. */
async function remove(folder: string): Promise<void> {
  const hidden = path.join(path.dirname(folder), `.old-${path.basename(folder)}`);
  await rename(folder, hidden).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rm(hidden, { recursive: true, force: true });
}

async function removeLeftovers(checkpoints: string): Promise<void> {
  const names = await readdir(checkpoints).catch(() => []);
  for (const name of names.filter((name) => name.startsWith('.'))) {
    await rm(path.join(checkpoints, name), { recursive: true, force: true });
  }
}
