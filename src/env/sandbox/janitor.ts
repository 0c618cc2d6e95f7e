import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { killAtWorkIn, killTree } from './processTree.js';
import { removeFolder } from './removeFolder.js';

/**
 * A process of its own that outlives its owner by a moment. It reads lines from its owner through a pipe; when the pipe
 * ends (the owner ended, be it by kill -9) it ends the commands and deletes the folders that are still noted.
 * Lines: `folder <JSON string>`, `unfolder <JSON string>`, `command <marker>` before a command is started,
 * `group <marker> <pid>` once it was, `uncommand <marker>`; `container <name> <JSON argv that removes it>`, `uncontainer <name>`.
 */
const folders = new Set<string>();
/** The marker in each command's environment, and its process group (0 where it is not known yet). */
const commands = new Map<string, number>();
/** What removes each container. */
const containers = new Map<string, readonly string[]>();

// Ctrl-C goes to the whole terminal: the janitor must outlive it, and ends with the pipe.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const [verb, ...rest] = line.split(' ');
  const argument = rest.join(' ');
  if (verb === 'folder') folders.add(JSON.parse(argument) as string);
  if (verb === 'unfolder') folders.delete(JSON.parse(argument) as string);
  if (verb === 'command') commands.set(rest[0], 0);
  if (verb === 'group' && commands.has(rest[0])) commands.set(rest[0], Number(rest[1]));
  if (verb === 'uncommand') commands.delete(rest[0]);
  if (verb === 'container') {
    containers.set(rest[0], JSON.parse(rest.slice(1).join(' ')) as string[]);
  }
  if (verb === 'uncontainer') containers.delete(rest[0]);
});
lines.on('close', () => {
  void cleanUp();
});

const runToEnd = ([program, ...args]: readonly string[]) =>
  new Promise<void>((resolve) => execFile(program, args, { timeout: 30_000 }, () => resolve()));

async function cleanUp(): Promise<void> {
  // A command that the owner was just starting shows its marker only a moment later.
  for (const waitMs of commands.size + containers.size > 0 ? [0, 200, 500] : []) {
    await sleep(waitMs);
    for (const [marker, pid] of commands) await killTree(pid, marker);
    for (const removal of containers.values()) await runToEnd(removal);
  }
  for (const folder of folders) await killAtWorkIn(folder);
  for (const folder of folders) await removeFolder(folder).catch(() => undefined);
  process.exit(0);
}
