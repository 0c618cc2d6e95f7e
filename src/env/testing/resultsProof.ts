import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Name of the file, in the results folder, that holds the run's key until the runner takes it away. */
export const keyName = 'key';
/** Variable that tells the runner where that file lies. */
export const keyVariable = 'WHETSTONE_RESULTS_KEY';

/**
 * Were these results written by the process that was given `key`? Code under test finds the results' file easily (it
 * stands in the runner's arguments), but the key was deleted before any of it ran.
 */
export function isProven(results: string, proof: string, key: string): boolean {
  const expected = createHmac('sha256', key).update(results).digest();
  const given = Buffer.from(proof, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/**
 * Results whose proof lies beside them, in `NAME.proof`; empty where there are none.
 * @param key the run's; undefined where the results need no proof
 * @returns null where they are not proven
 */
export async function readProvenBeside(folder: string, name: string, key?: string): Promise<string | null> {
  const results = await readIfThere(folder, name);
  if (key !== undefined && !isProven(results, await readIfThere(folder, `${name}.proof`), key)) return null;
  return results;
}

/** Results of one line, whose proof is the next line; else as `readProvenBeside`. */
export async function readProvenLine(folder: string, name: string, key?: string): Promise<string | null> {
  const text = await readIfThere(folder, name);
  const end = text.indexOf('\n') + 1;
  if (key !== undefined && !isProven(text.slice(0, end), text.slice(end).trim(), key)) return null;
  return text.slice(0, end);
}

/** Empty where there is no such file: tests that never came to an end leave none. */
export const readIfThere = (folder: string, name: string): Promise<string> =>
  readFile(path.join(folder, name), 'utf8').catch(() => '');
