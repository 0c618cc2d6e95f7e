import { formatPatch, structuredPatch } from 'diff';
import type { FileChange } from '../workspace/workspace.js';

/** Git's unified diff of the changes (three lines of context, `a/` and `b/` in front), fit for `git apply`. */
export function unifiedDiff(changes: readonly FileChange[]): string {
  return changes.map(fileDiff).join('');
}

function fileDiff({ path, before, after, executable }: FileChange): string {
  if (before === after && executable === undefined) return '';
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
    ...modes(before, executable),
  });
}

/** Git's words for a file that is to be a program, or is so no longer. */
function modes(before: string | null, executable: boolean | undefined) {
  if (executable === undefined) return {};
  const newMode = executable ? '100755' : '100644';
  return before === null ? { newMode } : { newMode, oldMode: executable ? '100644' : '100755' };
}
