import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A small repository to open, in a folder whose name has what paths trip over. */
export function makeWorkspace(parent: string): string {
  const folder = join(parent, "it's a répö #1 50%");
  mkdirSync(folder);
  writeFileSync(join(folder, 'sum.js'), 'export const sum = (a, b) => a + b;\n');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], { cwd: folder });
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'A sum');
  return folder;
}
