import { createHash } from 'node:crypto';

/** A seed in 0..2^32-1 that depends on every part and on nothing else. Different parts give unrelated seeds. */
export function deriveSeed(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32LE(0);
}
