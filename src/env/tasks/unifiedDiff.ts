import { formatPatch, structuredPatch } from 'diff';
import type { FileChange } from '../workspace/workspace.js';

/** Git's unified diff of the changes (three lines of context, `a/` and `b/` in front), fit for `git apply`. */
export function unifiedDiff(changes: readonly FileChange[]): string {
  return changes.map(fileDiff).join('');
}

function fileDiff({ path, before, after }: FileChange): string {
  if (before === after) return '';
  const patch = structuredPatch(`a/${path}`, `b/${path}`, before ?? '', after ?? '', undefined, undefined, {
    context: 3,
  });
  return formatPatch({
    ...patch,
    oldFileName: before === null ? '/dev/null' : patch.oldFileName,
    newFileName: after === null ? '/dev/null' : patch.newFileName,
    isGit: true,
    isCreate: before === null,
    isDelete: after === null,
  });
}
