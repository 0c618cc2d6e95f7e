import { createInterface } from 'node:readline';
import { killTree } from './processTree.js';
import { removeFolder } from './removeFolder.js';

/**
 * A process of its own that outlives its owner by a moment. It reads lines from its owner through a pipe; when the pipe
 * ends (the owner ended, be it by kill -9) it kills the process groups and deletes the folders that are still noted.
 * Lines: `folder <JSON string>`, `unfolder <JSON string>`, `group <pid> <marker>`, `ungroup <pid>`.
 */
const folders = new Set<string>();
const groups = new Map<number, string>();

// Ctrl-C goes to the whole terminal: the janitor must outlive it, and ends with the pipe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [verb, ...rest] = line.split(' ');
  const argument = rest.join(' ');
  if (verb === 'folder') folders.add(JSON.parse(argument) as string);
  if (verb === 'unfolder') folders.delete(JSON.parse(argument) as string);
  if (verb === 'group') groups.set(Number(rest[0]), rest[1]);
  if (verb === 'ungroup') groups.delete(Number(rest[0]));
});
lines.on('close', () => {
  void cleanUp();
});

async function cleanUp(): Promise<void> {
  for (const [pid, marker] of groups) await killTree(pid, marker);
  for (const folder of folders) await removeFolder(folder).catch(() => undefined);
  process.exit(0);
}
