import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { commandEnvironment, withJoinedOutput } from './commandEnvironment.js';
import type { Janitor } from './janitorClient.js';
import { killTree, markerVariable } from './processTree.js';
import { runBounded } from './runBounded.js';
import type { Sandbox, SandboxCommand, SandboxResult, SandboxView } from './sandbox.js';
import type { Toolchain } from './toolchain.js';

/**
 * No confinement: the commands run as the user, with the user's network and files in reach. Only the environment is an
 * allow-list, HOME and TMPDIR are a scratch folder, and time, memory, output and the process tree are bounded
 * (processes that left both the tree and its group are found only at the end).
 * For repositories that the user trusts.
 */
export class Unconfined implements Sandbox {
  readonly kind = 'unconfined';

  constructor(
    private readonly toolchain: Toolchain,
    private readonly janitor: Janitor,
  ) {}

  async run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult> {
    const scratch = await mkdtemp(path.join(path.dirname(view.worktree), 'scratch-'));
    const marker = randomUUID();
    this.janitor.addCommand(marker);
    try {
      const { result } = await runBounded({
        argv: withJoinedOutput(command.argv),
        cwd: path.join(view.worktree, command.cwd),
        env: commandEnvironment({
          path: this.toolchain.path.join(path.delimiter),
          home: scratch,
          temporary: scratch,
          extra: {
            ...this.toolchain.env,
            // A program that deletes the tree's `.git` must not find the user's repository around it.
            GIT_CEILING_DIRECTORIES: path.dirname(view.worktree),
            ...command.env,
            [markerVariable]: marker,
          },
        }),
        limits: command,
        onStart: (pid) => this.janitor.setGroup(marker, pid),
        killTree: (pid) => killTree(pid, marker),
        sweep: async (pid) => killTree(pid, marker, await realpath(view.worktree)),
      });
      return result;
    } finally {
      this.janitor.removeCommand(marker);
      await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
    }
  }
}
