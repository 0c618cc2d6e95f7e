import { execFileSync } from 'node:child_process';
import type { Runtimes } from './episodes/realRuns.js';

/**
 * Node 24 (`EPISODES_NODE`, or the one that runs this) plays the tests of many modules in one process; an older one
 * takes a process per file, which gives the same results and takes ten times as long.
 */
export function findRuntimes(): Runtimes & { readonly sitePackages: string } {
  const node = process.env['EPISODES_NODE'] ?? process.execPath;
  const major = Number(/^v(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1]);
  const python = execFileSync('python3', ['-c', 'import pytest, sys; print(sys.executable)'], {
    encoding: 'utf8',
  }).trim();
  const sitePackages = execFileSync('python3', ['-c', 'import sysconfig; print(sysconfig.get_paths()["purelib"])'], {
    encoding: 'utf8',
  }).trim();
  return { sitePackages, node, nodeFlags: major >= 24 ? ['--test-isolation=none', '--no-warnings'] : [], python };
}
