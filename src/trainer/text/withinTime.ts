import { Script, createContext } from 'node:vm';

const context = createContext({ work: (): unknown => undefined });
const callWork = new Script('work()');

export class TimedOut extends Error {}

/**
 * What `work` returns; throws TimedOut where that takes longer. Templates and regular expressions come with a checkpoint
 * from anywhere, and may take for ever; only V8 itself can end code that never waits, and the time-out of a script reaches
 * whatever the script calls.
 */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  context.work = work;
  try {
    return callWork.runInContext(context, { timeout: milliseconds }) as T;
  } catch (error) {
    // The error is one of the script's own realm.
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    throw new TimedOut(`it takes more than ${milliseconds / 1000} s`, { cause: error });
  }
}
