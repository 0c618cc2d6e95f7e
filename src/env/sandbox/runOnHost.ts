import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { commandEnvironment, withJoinedOutput } from './commandEnvironment.js';
import type { Janitor } from './janitorClient.js';
import { killTree, markerVariable } from './processTree.js';
import { runBounded } from './runBounded.js';
import type { SandboxCommand, SandboxResult, SandboxView } from './sandbox.js';
import type { Toolchain } from './toolchain.js';

/**
 * Runs a command among the machine's own processes and folders, with an allow-listed environment and a scratch folder as
 * HOME and TMPDIR; time, memory, output and the process tree are bounded (processes that left both the tree and its group
 * are found only at the end). `confine` puts in front of the arguments what confines them.
 */
export async function runOnHost(
  { toolchain, janitor }: { readonly toolchain: Toolchain; readonly janitor: Janitor },
  view: SandboxView,
  command: SandboxCommand,
  confine: (scratch: string) => readonly string[] | Promise<readonly string[]>,
): Promise<SandboxResult> {
  const scratch = await mkdtemp(path.join(path.dirname(view.worktree), 'scratch-'));
  const marker = randomUUID();
  janitor.addCommand(marker);
  try {
    const { result } = await runBounded({
      argv: [...(await confine(scratch)), ...withJoinedOutput(command.argv)],
      cwd: path.join(view.worktree, command.cwd),
      env: commandEnvironment({
        path: toolchain.path.join(path.delimiter),
        home: scratch,
        temporary: scratch,
        extra: {
          ...toolchain.env,
          // A program that deletes the tree's `.git` must not find the user's repository around it.
          GIT_CEILING_DIRECTORIES: path.dirname(view.worktree),
          ...command.env,
          [markerVariable]: marker,
        },
      }),
      limits: command,
      onStart: (pid) => janitor.setGroup(marker, pid),
      killTree: (pid) => killTree(pid, marker),
      sweep: async (pid) => killTree(pid, marker, await realpath(view.worktree)),
    });
    return result;
  } finally {
    janitor.removeCommand(marker);
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}
