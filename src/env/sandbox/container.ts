import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { commandEnvironment } from './commandEnvironment.js';
import type { Janitor } from './janitorClient.js';
import { memoryLimitBytes, processLimit, runBounded } from './runBounded.js';
import type { Mount, Sandbox, SandboxCommand, SandboxResult, SandboxView } from './sandbox.js';
import type { Toolchain } from './toolchain.js';

const run = promisify(execFile);

export type ContainerKind = 'podman' | 'docker';

/** What the containers are made of: the user's image, or an empty one into which the machine's own system folders are mounted. */
export interface ContainerImage {
  readonly name: string;
  readonly systemFolders: readonly string[];
}

const temporaryBytes = 1024 ** 3;
const engineMilliseconds = 30_000;
/** In these both outputs are one pipe, no core is dumped, no file grows beyond 1 GiB; PATH is the image's own unless given. */
const setUp = 'ulimit -c 0; ulimit -f 2097152; exec env -i PATH="$PATH" "$@" 2>&1';

/**
 * Confines each command in a container of its own, of Podman or Docker: no network, no capabilities, a read-only root,
 * bounded memory and processes, and the worktree in the place of the user's repository. Never pulls an image.
 */
export class Container implements Sandbox {
  readonly remounts = true;

  constructor(
    readonly kind: ContainerKind,
    private readonly program: string,
    private readonly image: ContainerImage,
    private readonly toolchain: Toolchain,
    private readonly janitor: Janitor,
  ) {}

  async run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult> {
    const name = `whetstone-${randomUUID()}`;
    this.janitor.addContainer(name, [this.program, ...this.removal(name)]);
    try {
      const { result } = await runBounded({
        argv: [this.program, 'run', '--name', name, ...this.arguments(view, command)],
        cwd: '/',
        env: clientEnvironment(),
        limits: command,
        killTree: async () => this.remove(name),
      });
      return result.outcome === 'exited' ? await this.withState(name, result) : result;
    } finally {
      await this.remove(name);
      this.janitor.removeContainer(name);
    }
  }

  /** The exit code as the engine saw it: what the client says can be the engine's failure or the command's. */
  private async withState(name: string, result: SandboxResult): Promise<SandboxResult> {
    const format = '{{.State.ExitCode}} {{.State.OOMKilled}} {{.State.Status}}';
    const answer = await this.engine(['container', 'inspect', '--format', format, name]).catch(() => '');
    const [exitCode, isOutOfMemory, status] = answer.trim().split(' ');
    if (status !== 'exited') {
      const reason = result.output.trim().split('\n').pop() ?? '';
      throw infrastructure(say`The sandbox could not be set up: ${reason}.`, 'Try again, or choose another --sandbox.');
    }
    // The kernel kills what takes too much memory, and not every engine hears of it (control groups of version 1).
    const isKilled = isOutOfMemory === 'true' || Number(exitCode) === 128 + constants.signals.SIGKILL;
    if (!isKilled) return { ...result, exitCode: Number(exitCode) };
    const cause = isOutOfMemory === 'true' ? 'used' : 'probably used';
    const note = `\n[killed: ${cause} more than ${memoryLimitBytes / 1024 ** 2} MiB of memory]\n`;
    return { ...result, exitCode: null, output: result.output + note };
  }

  private arguments(view: SandboxView, command: SandboxCommand): string[] {
    const variables = commandEnvironment({
      path: this.toolchain.path.join(path.delimiter),
      home: '/tmp',
      temporary: '/tmp',
      extra: { ...this.toolchain.env, ...command.env },
    });
    if (this.toolchain.path.length === 0) delete variables.PATH;
    const system = this.image.systemFolders.map((folder) => ({ source: folder, target: folder }));
    const shown = this.toolchain.folders.map((folder) => ({ source: folder, target: folder }));
    return [
      ...['--network', 'none', '--hostname', 'whetstone', '--read-only', '--pull', 'never'],
      ...['--tmpfs', `/tmp:rw,exec,mode=1777,size=${temporaryBytes}`],
      ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
      ...['--memory', String(memoryLimitBytes), '--memory-swap', String(memoryLimitBytes)],
      ...['--pids-limit', String(processLimit)],
      ...this.userArguments(),
      ...[...system, ...shown, ...view.readOnly].flatMap((mount) => mountArguments(mount, true)),
      ...mountArguments({ source: view.worktree, target: view.mountPath }, false),
      ...view.writable.flatMap((mount) => mountArguments(mount, false)),
      ...['--workdir', path.join(view.mountPath, command.cwd), '--entrypoint', '/bin/sh', this.image.name],
      ...['-c', setUp, 'sh', ...Object.entries(variables).map(([key, value]) => `${key}=${value}`), ...command.argv],
    ];
  }

  /** What is written must belong to the user, not to the engine's superuser. */
  private userArguments(): string[] {
    const [user, group] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    if (this.kind === 'podman') {
      const own = user === 0 ? [] : ['--userns', 'keep-id'];
      return [...own, '--http-proxy=false', '--security-opt', 'label=disable'];
    }
    return process.platform === 'linux' ? ['--user', `${user}:${group}`] : [];
  }

  /** Podman would first ask the command to end, and wait. */
  private removal(name: string): string[] {
    return ['rm', '--force', ...(this.kind === 'podman' ? ['--time', '0'] : []), name];
  }

  private async remove(name: string): Promise<void> {
    await this.engine(this.removal(name)).catch(() => undefined);
  }

  private async engine(args: readonly string[]): Promise<string> {
    const options = { timeout: engineMilliseconds, env: clientEnvironment() };
    return (await run(this.program, [...args], options)).stdout;
  }
}

/** `--mount` takes any path but one with a comma or a quote in it, which its CSV would need quoted. */
function mountArguments({ source, target }: Mount, isReadOnly: boolean): string[] {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(isReadOnly ? ['readonly'] : [])];
  return [
    '--mount',
    fields.map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(','),
  ];
}

/** The engine's own client needs the user's configuration. */
const clientEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
