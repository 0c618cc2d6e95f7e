import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';

/** First executable file of that name in the folders. */
export async function findProgram(name: string, folders: readonly string[]): Promise<string | null> {
  const suffixes = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  for (const folder of folders) {
    for (const suffix of suffixes) {
      const candidate = path.join(folder, name + suffix);
      const usable = await access(candidate, constants.X_OK).then(
        () => isFile(candidate),
        () => false,
      );
      if (usable) return candidate;
    }
  }
  return null;
}

export function isInside(inner: string, outer: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}

const isFile = (name: string) =>
  stat(name).then(
    (found) => found.isFile(),
    () => false,
  );
