import { createHmac, timingSafeEqual } from 'node:crypto';

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
