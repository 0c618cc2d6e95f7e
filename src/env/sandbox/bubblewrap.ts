import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { commandEnvironment, withJoinedOutput } from './commandEnvironment.js';
import type { Janitor } from './janitorClient.js';
import { killTree, markerVariable, waitForEnd } from './processTree.js';
import { processLimit, runBounded } from './runBounded.js';
import type { Mount, Sandbox, SandboxCommand, SandboxProblem, SandboxResult, SandboxView } from './sandbox.js';
import { isInside, type Toolchain } from './toolchain.js';

const run = promisify(execFile);

/** Folders whose contents commands never see: people's files, other disks, sockets of the machine, temporary files. */
export const hiddenFolders = () => [
  ...new Set(['/home', '/root', homedir(), '/mnt', '/media', '/srv', '/tmp', '/var/tmp', '/run', '/var/run']),
];
const temporaryBytes = 1024 ** 3;
/** Another program that mounts, unmounts or takes the last process at that moment makes a set-up fail that succeeds the next time. */
const setupAttempts = 3;
const setupPauseMs = 200;

/**
 * Confines with bubblewrap: own user, process, network, IPC and host-name spaces, no capabilities; the disk read-only, homes
 * and temporary folders empty (toolchains shown again), and the worktree in the place of the user's repository, so that the
 * repository, its `.git` and `.whetstone` cannot be seen. The folder around it and its other worktrees are empty too.
 * Not covered: files outside of the homes that anyone may read stay readable.
 */
export class Bubblewrap implements Sandbox {
  readonly kind = 'bubblewrap';
  readonly remounts = true;

  constructor(
    private readonly toolchain: Toolchain,
    private readonly limitsTemporary: boolean,
    /** Folders that commands do not see, beside those that hide on every machine. */
    private readonly hidden: readonly string[],
    private readonly janitor: Janitor,
  ) {}

  async run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult> {
    const argv = [
      ...(view.enter ?? []),
      'bwrap',
      '--json-status-fd',
      '3',
      ...(await this.arguments(view)),
      '--chdir',
      path.join(view.mountPath, command.cwd),
      '--',
      // Its own user namespace counts its own processes. The watch ends a command with fewer; a fork bomb is faster than the watch.
      ...withJoinedOutput(command.argv, 2 * processLimit),
    ];
    const env = commandEnvironment({
      path: this.toolchain.path.join(path.delimiter),
      home: '/tmp/home',
      temporary: '/tmp',
      extra: { ...this.toolchain.env, ...command.env },
    });
    for (let attempt = 1; ; attempt++) {
      const { result, wasSetUp } = await this.attempt(argv, env, command);
      if (wasSetUp) return result;
      if (attempt === setupAttempts) {
        const reason = result.output.trim().split('\n').pop() ?? '';
        throw infrastructure(
          say`The sandbox could not be set up: ${reason}.`,
          'Try again, or use --sandbox unconfined.',
        );
      }
      await setTimeout(setupPauseMs);
    }
  }

  private async attempt(argv: readonly string[], env: Readonly<Record<string, string>>, command: SandboxCommand) {
    // bubblewrap ends with its owner, but for the moment before it has asked the kernel for that: hence the janitor.
    const marker = randomUUID();
    this.janitor.addCommand(marker);
    const { result, status } = await runBounded({
      argv,
      cwd: '/',
      env: { ...env, [markerVariable]: marker },
      limits: command,
      statusStream: true,
      onStart: (pid) => this.janitor.setGroup(marker, pid),
      killTree: (pid, soFar) => {
        const inner = innerPid(soFar);
        return inner === null ? killTree(pid, marker) : kill(inner);
      },
    }).finally(() => this.janitor.removeCommand(marker));
    // bubblewrap passes an exit code on a moment before the processes inside, which end with their process 1, are gone.
    const inner = innerPid(status);
    if (inner !== null) await waitForEnd(inner);
    // Without an exit code bubblewrap itself failed, or was killed by us before it had begun.
    const wasSetUp = result.outcome !== 'exited' || result.exitCode === null || /"exit-code"/.test(status);
    return { result, wasSetUp };
  }

  private async arguments(view: SandboxView): Promise<string[]> {
    // Those around others first: what is hidden in a hidden folder is mounted after it.
    const hidden = [...new Set([...hiddenFolders(), ...this.hidden])]
      .filter((folder) => !isInside(folder, view.mountPath))
      .sort((a, b) => a.length - b.length);
    const shown = this.toolchain.folders.filter((folder) => !isInside(folder, view.mountPath));
    // Where it can be written, a program changes its own code through /proc/self/mem, and that of those that started it.
    const list = ['--ro-bind', '/', '/', '--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev'];
    for (const folder of await realFolders(hidden)) {
      list.push(...(this.limitsTemporary ? ['--size', String(temporaryBytes)] : []), '--tmpfs', folder);
    }
    list.push('--dir', '/tmp/home');
    const bind = (flag: string, mounts: readonly Mount[]) => {
      for (const { source, target } of mounts) list.push(flag, source, target);
    };
    bind(
      '--ro-bind',
      shown.map((folder) => ({ source: folder, target: folder })),
    );
    bind('--bind', [{ source: view.worktree, target: view.mountPath }]);
    bind('--ro-bind', view.readOnly);
    bind('--bind', view.writable);
    // There, the user may be mapped to another number.
    if (view.enter?.length) list.push('--uid', String(process.getuid?.()), '--gid', String(process.getgid?.()));
    list.push(
      '--unsetenv',
      markerVariable,
      // All but the cgroups': in a space of its own for these, Java 17 fails where it asks for its memory's limit (cgroups 1).
      ...['user', 'ipc', 'pid', 'net', 'uts'].map((space) => `--unshare-${space}`),
      '--cap-drop',
      'ALL',
      '--hostname',
      'whetstone',
      '--die-with-parent',
      '--new-session',
    );
    return list;
  }
}

/** Null where bubblewrap works here; else one line that says what is missing and how to get it. */
export async function bubblewrapProblem(): Promise<SandboxProblem | null> {
  if (process.platform !== 'linux') {
    return {
      problem: say`bubblewrap, the sandbox, runs on Linux only.`,
      remedy: say`Use --sandbox seatbelt (macOS) or docker:IMAGE, or --sandbox unconfined for a repository that you trust.`,
    };
  }
  const token = randomUUID();
  const args = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--unshare-all', '--die-with-parent'];
  try {
    const { stdout } = await run('bwrap', [...args, '--', '/bin/echo', token], { timeout: 20_000 });
    if (stdout.trim() === token) return null;
    return {
      problem: say`bubblewrap, the sandbox, ran and printed nothing.`,
      remedy: say`Reinstall the package bubblewrap.`,
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return {
        problem: say`bubblewrap, the sandbox, is not installed.`,
        remedy: say`Install it (apt-get install bubblewrap), use --sandbox podman or docker, or --sandbox unconfined for a repository that you trust.`,
      };
    }
    const reason =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : String(error);
    return {
      problem: say`bubblewrap, the sandbox, is installed but fails to start: ${reason}.`,
      remedy: say`Ubuntu 24.04 and many containers forbid user namespaces: allow them for bwrap with an AppArmor profile (or sysctl kernel.apparmor_restrict_unprivileged_userns=0), use --sandbox podman or docker, or --sandbox unconfined for a repository that you trust.`,
    };
  }
}

/** Can this version bound the size of a temporary folder? (From 0.7 on.) */
export async function supportsSize(): Promise<boolean> {
  const { stdout } = await run('bwrap', ['--help'], { timeout: 20_000 });
  return stdout.includes('--size');
}

/** The process that is 1 inside: when it is killed, the kernel ends all others inside before bubblewrap returns. */
const innerPid = (status: string) => {
  const match = /"child-pid":\s*(\d+)/.exec(status);
  return match ? Number(match[1]) : null;
};

async function kill(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Of the folders, those that exist and are no links: bubblewrap would follow a link out of the root. */
async function realFolders(folders: readonly string[]): Promise<string[]> {
  const existing = await Promise.all(
    folders.map((folder) =>
      lstat(folder).then(
        (found) => (found.isDirectory() ? folder : null),
        () => null,
      ),
    ),
  );
  return existing.filter((folder) => folder !== null);
}
