import type { Grade } from '../../trajectory/grade.js';
import type { FileChange } from '../workspace/workspace.js';
import { matchingBlocks, ratio, type MatchingBlock } from './ratio.js';
import { unifiedDiffHunks } from './unifiedDiff.js';
import { FormatError, parseUnifiedDiff } from './unifiedPatch.js';

export interface Similarity {
  /** In [0, 1], or -1 where the predicted patch can not be read or applied. */
  readonly reward: number;
  /** Sorted by path. */
  readonly files: Grade['files'];
  /** Why it is -1. */
  readonly formatError?: string;
}

/** The similarity of a patch that can not be read or applied. */
export const formatErrorSimilarity = (error: FormatError): Similarity => ({
  reward: -1,
  files: [],
  formatError: error.message,
});

/** How the number came about, in a line. */
export function similarityReason({ files, formatError }: Similarity): string {
  if (formatError !== undefined) return formatError;
  if (files.length === 0) return 'neither side changes a file';
  const compared = files.filter(({ reason }) => reason === undefined).length;
  return `mean over ${files.length} ${files.length === 1 ? 'file' : 'files'}, ${compared} changed by both sides`;
}

/**
 * SWE-RL patch similarity (requirement R1; Wei et al. 2025, arXiv 2502.18449): the mean over the files that either side
 * changes of the ratio of their unified diffs, 0 where only one side changes a file; 1 where neither changes any.
 */
export function changesSimilarity(predicted: readonly FileChange[], oracle: readonly FileChange[]): Similarity {
  return meanSimilarity(diffsOfChanges(predicted), diffsOfChanges(oracle));
}

/** What the similarity of a file compares, and the blocks that both sides have in common. */
export interface Alignment {
  /** Hunks of a unified diff; empty where this side does not change the file. */
  readonly predicted: string;
  readonly oracle: string;
  /** `a` lies in `predicted`, `b` in `oracle`. */
  readonly blocks: readonly MatchingBlock[];
}

/** How the two sides' changes of a file are aligned: twice the blocks' lengths, over both texts', is its similarity. */
export function alignmentOf(predicted: readonly FileChange[], oracle: readonly FileChange[], path: string): Alignment {
  const [mine, theirs] = [predicted, oracle].map((changes) => diffsOfChanges(changes).get(path) ?? '');
  return { predicted: mine, oracle: theirs, blocks: matchingBlocks(mine, theirs) };
}

/**
 * The same for two patches given as text, without the files: the hunks are compared as they are written. A predicted
 * patch that does not parse gives -1; an oracle that does not parse throws FormatError.
 */
export function patchesSimilarity(predicted: string, oracle: string): Similarity {
  const oracleDiffs = diffsOfPatch(oracle);
  try {
    return meanSimilarity(diffsOfPatch(predicted), oracleDiffs);
  } catch (error) {
    if (error instanceof FormatError) return formatErrorSimilarity(error);
    throw error;
  }
}

function meanSimilarity(predicted: ReadonlyMap<string, string>, oracle: ReadonlyMap<string, string>): Similarity {
  const paths = [...new Set([...oracle.keys(), ...predicted.keys()])].sort();
  if (paths.length === 0) return { reward: 1, files: [] };
  const files = paths.map((path) => {
    const [mine, theirs] = [predicted.get(path), oracle.get(path)];
    if (mine === undefined) return { path, ratio: 0, reason: 'only the oracle changes it' };
    if (theirs === undefined) return { path, ratio: 0, reason: 'only the prediction changes it' };
    return { path, ratio: ratio(mine, theirs) };
  });
  return { reward: files.reduce((sum, file) => sum + file.ratio, 0) / files.length, files };
}

/** Hunks by path; a file whose lines are the same is left out. */
function diffsOfChanges(changes: readonly FileChange[]): Map<string, string> {
  const diffs = changes.map(({ path, before, after }) => [path, unifiedDiffHunks(before ?? '', after ?? '')] as const);
  return new Map(diffs.filter(([, hunks]) => hunks !== ''));
}

/** Hunks by path as the patch writes them, header lines dropped; a file without hunks is left out. */
function diffsOfPatch(text: string): Map<string, string> {
  // Lines of a hunk's body never begin with `@`, so these are the hunks' first lines, in the parser's order.
  const headers = text.split('\n').filter((line) => /^@@\s/.test(line));
  const diffs = new Map<string, string>();
  let seen = 0;
  for (const { oldPath, newPath, patch } of parseUnifiedDiff(text)) {
    const path = newPath ?? oldPath!;
    for (const hunk of patch.hunks) {
      const lines = [headers[seen++], ...hunk.lines].map((line) => line.replace(/\r$/, ''));
      const earlier = diffs.get(path);
      diffs.set(path, (earlier === undefined ? [] : [earlier]).concat(lines).join('\n'));
    }
  }
  return diffs;
}
