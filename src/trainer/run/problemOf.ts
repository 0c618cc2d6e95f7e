import { z } from 'zod';

/** The first thing that is wrong with a record that was read, in a few words on one line. */
export function problemOf(error: unknown): string {
  if (error instanceof z.ZodError) {
    const [{ path, message }] = error.issues;
    return path.length === 0 ? message : `${path.join('.')}: ${message}`;
  }
  return error instanceof Error ? error.message : String(error);
}
