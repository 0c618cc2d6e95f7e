import { randomBytes } from 'node:crypto';
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

/** A fresh id that sorts by time, e.g. `20261129-165638-a1b2`. */
export function newRunId(now = new Date()): string {
  const [date, time] = now.toISOString().replace(/[-:]/g, '').slice(0, 15).split('T');
  return `${date}-${time}-${randomBytes(2).toString('hex')}`;
}
