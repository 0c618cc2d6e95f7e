import { diffArrays } from 'diff';
import { parseUnifiedDiff, FormatError } from '../../env/reward/unifiedPatch.js';

/** A rollout that changed a line. */
export interface Toucher {
  /** 1-based. */
  readonly rollout: number;
  readonly advantage: number | null;
  readonly resolved: boolean;
}

/**
 * Which rollouts touched which line, by the file's path and the line of the start tree (1-based): those that a patch
 * removes or replaces, and for lines that it only adds the one that they stand after. A patch that is none touches nothing.
 */
export function touchedLines(
  patches: readonly (Toucher & { readonly patch: string })[],
): ReadonlyMap<string, ReadonlyMap<number, readonly Toucher[]>> {
  const files = new Map<string, Map<number, Toucher[]>>();
  for (const { patch, ...toucher } of patches) {
    for (const [path, line] of linesOf(patch)) {
      const lines = files.get(path) ?? new Map<number, Toucher[]>();
      files.set(path, lines);
      const touchers = lines.get(line) ?? [];
      if (!touchers.some(({ rollout }) => rollout === toucher.rollout)) lines.set(line, [...touchers, toucher]);
    }
  }
  return files;
}

function linesOf(patch: string): readonly (readonly [path: string, line: number])[] {
  try {
    return parseUnifiedDiff(patch).flatMap(({ oldPath, patch: { hunks } }) =>
      oldPath === null ? [] : hunks.flatMap((hunk) => hunkLines(hunk).map((line) => [oldPath, line] as const)),
    );
  } catch (error) {
    if (error instanceof FormatError) return [];
    throw error;
  }
}

function hunkLines({ oldStart, lines }: { oldStart: number; lines: readonly string[] }): readonly number[] {
  const touched = new Set<number>();
  let at = oldStart;
  let replaces = false;
  for (const line of lines) {
    if (line.startsWith('-')) {
      touched.add(at);
      at += 1;
      replaces = true;
    } else if (line.startsWith('+')) {
      if (!replaces) touched.add(Math.max(1, at - 1));
    } else if (!line.startsWith('\\')) {
      at += 1;
      replaces = false;
    }
  }
  return [...touched];
}

/**
 * Where lines of one text stand in another: for each line of `from` (0-based) its line in `to`; one that was replaced
 * stands where its replacement begins, one that is gone at what follows it.
 */
export function mapLines(from: readonly string[], to: readonly string[]): readonly number[] {
  const mapped: number[] = [];
  let at = 0;
  for (const { value, added, removed } of diffArrays([...from], [...to])) {
    if (added) at += value.length;
    else if (removed) mapped.push(...value.map(() => at));
    else mapped.push(...value.map((_, index) => at + index));
    if (!added && !removed) at += value.length;
  }
  return mapped;
}
