import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** Paths of the files of a run directory. */
export interface RunPaths {
  readonly folder: string;
  readonly config: string;
  readonly tasks: string;
  readonly events: string;
  readonly trajectories: string;
  readonly headers: string;
  readonly tokens: string;
  readonly learned: string;
  readonly learnedTokens: string;
  readonly checkpoints: string;
  readonly process: string;
  readonly log: string;
}

export function runPaths(folder: string): RunPaths {
  const at = (name: string) => path.join(folder, name);
  return {
    folder,
    config: at('config.json'),
    tasks: at('tasks.json'),
    events: at('events.jsonl'),
    trajectories: at('trajectories.jsonl'),
    headers: at('headers.jsonl'),
    tokens: at('tokens.bin'),
    learned: at('learned.jsonl'),
    learnedTokens: at('learned.bin'),
    checkpoints: at('checkpoints'),
    process: at('process.json'),
    log: at('log.txt'),
  };
}

export const runsFolder = (stateFolder: string) => path.join(stateFolder, 'runs');

/** The ids in a state folder's runs, oldest first. */
export const runIds = async (stateFolder: string): Promise<string[]> =>
  (await readdir(runsFolder(stateFolder)).catch(() => [])).filter((name) => !name.startsWith('.')).sort();

/** A fresh id that sorts behind the runs that are there, also where the clock was set back meanwhile. */
export async function nextRunId(stateFolder: string, now = new Date()): Promise<string> {
  const newest = (await runIds(stateFolder)).findLast((id) => timeOf(id) !== null);
  const latest = newest === undefined ? 0 : timeOf(newest)!;
  return newRunId(now.getTime() > latest ? now : new Date(latest + 1000));
}

/** When a run was begun, by its id, in milliseconds since 1970 to the second; null where the id is of another kind. */
function timeOf(id: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-[0-9a-f]{4}$/.exec(id)?.slice(1).map(Number);
  if (parts === undefined) return null;
  const [year, month, day, hour, minute, second] = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** A fresh id that sorts by time, e.g. `20261129-165638-a1b2`. */
export function newRunId(now = new Date()): string {
  const [date, time] = now.toISOString().replace(/[-:]/g, '').slice(0, 15).split('T');
  return `${date}-${time}-${randomBytes(2).toString('hex')}`;
}
