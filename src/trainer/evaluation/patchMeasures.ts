/** What a unified diff changes, as far as its lines tell. */
export interface PatchMeasures {
  readonly changedLines: number;
  readonly files: readonly string[];
  /** Added lines that a reviewer would send back: trailing blanks, mixed indentation, markers of a conflict. */
  readonly untidyLines: number;
}

const header = /^(?:---|\+\+\+) (?:[ab]\/)?(.+?)(?:\t.*)?$/;
const untidy = /[ \t]+$|^ +\t|^\t+ {4}|^(?:<{7}|={7}|>{7})(?: |$)/;

export function measurePatch(patch: string): PatchMeasures {
  const files = new Set<string>();
  let [changedLines, untidyLines] = [0, 0];
  // Lines that the present hunk still has of the old and the new file: within them `--- x` is a removed line.
  let [left, right] = [0, 0];
  for (const line of patch.split('\n')) {
    const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
    if (hunk !== null) {
      [left, right] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    } else if (left > 0 || right > 0) {
      if (line.startsWith('\\')) continue;
      if (!line.startsWith('+')) left--;
      if (!line.startsWith('-')) right--;
      if (line.startsWith('+') || line.startsWith('-')) changedLines++;
      if (line.startsWith('+') && untidy.test(line.slice(1).replace(/\r$/, ''))) untidyLines++;
    } else {
      const file = header.exec(line)?.[1];
      if (file !== undefined && file !== '/dev/null') files.add(file);
    }
  }
  return { changedLines, files: [...files], untidyLines };
}
