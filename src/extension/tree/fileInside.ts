import path from 'node:path';

/**
 * Where a file lies that was named relative to a folder, by somebody who is not to be believed; undefined where that is the
 * folder itself, or outside of it. `flavour`: the rules of the system, this one's where it is not given.
 */
export function fileInside(
  folder: string,
  file: string,
  flavour: Pick<typeof path, 'resolve' | 'relative' | 'isAbsolute' | 'sep'> = path,
): string | undefined {
  const target = flavour.resolve(folder, file);
  const relative = flavour.relative(folder, target);
  const isOutside = relative === '..' || relative.startsWith(`..${flavour.sep}`) || flavour.isAbsolute(relative);
  return relative === '' || isOutside ? undefined : target;
}
