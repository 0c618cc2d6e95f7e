import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { say } from '../../trajectory/said.js';
import type { ContainerImage, ContainerKind } from './container.js';
import type { SandboxProblem } from './sandbox.js';
import { findProgram, type Toolchain } from './toolchain.js';

const run = promisify(execFile);
const probeMilliseconds = 60_000;
const emptyImage = 'localhost/whetstone-empty:1';
const systemFolders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix'];

/** An engine that ran something a moment ago, and what there is in its containers. */
export interface ProbedContainer {
  readonly program: string;
  readonly image: ContainerImage;
  readonly toolchain: Toolchain;
}

/**
 * Tries the engine by running something in it, as every later command will. `image` is the user's; without one, the
 * machine's own programs are shown in an empty image, which only Linux allows.
 */
export async function probeContainer(
  kind: ContainerKind,
  image: string | null,
  machine: Toolchain,
): Promise<ProbedContainer | SandboxProblem> {
  if (process.platform === 'win32') {
    return { problem: say`The sandbox does not run on Windows itself.`, remedy: say`Open the repository in WSL 2.` };
  }
  const program = await findProgram(kind, (process.env.PATH ?? '').split(':'));
  if (program === null) {
    return {
      problem: say`${kind}, the sandbox, is not installed.`,
      remedy: say`Install it, or choose another --sandbox.`,
    };
  }
  if (image === null && process.platform !== 'linux') {
    return {
      problem: say`${kind} runs Linux containers, in which the programs of this machine do not start.`,
      remedy: say`Name an image with the tools that the tests need, e.g. --sandbox ${kind}:node:24.`,
    };
  }
  try {
    if (image === null) {
      await importEmptyImage(program);
      const chosen = { name: emptyImage, systemFolders: await existing(systemFolders) };
      await echo(program, chosen);
      return { program, image: chosen, toolchain: machine };
    }
    const chosen = { name: image, systemFolders: [] };
    await echo(program, chosen);
    return { program, image: chosen, toolchain: await toolchainOf(program, image) };
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    const reason = (stderr?.trim() || message).split('\n').at(-1) ?? '';
    return {
      problem: say`${kind}, the sandbox, is installed but fails to run a command: ${reason}.`,
      remedy:
        image === null
          ? say`Start the engine and allow yourself to use it, or choose another --sandbox.`
          : say`Is the image there (${kind} pull ${image})? Start the engine and allow yourself to use it, or choose another --sandbox.`,
    };
  }
}

/** A tar archive ends with 1,024 zero bytes; this one has nothing before them. */
async function importEmptyImage(program: string): Promise<void> {
  const known = await run(program, ['image', 'inspect', emptyImage], { timeout: probeMilliseconds }).catch(() => null);
  if (known !== null) return;
  const importing = run(program, ['import', '-', emptyImage], { timeout: probeMilliseconds });
  importing.child.stdin?.on('error', () => undefined);
  importing.child.stdin?.end(Buffer.alloc(1024));
  await importing;
}

async function echo(program: string, { name, systemFolders: folders }: ContainerImage): Promise<void> {
  const token = randomUUID();
  const mounts = folders.flatMap((folder) => ['--mount', `type=bind,source=${folder},target=${folder},readonly`]);
  const limits = ['--network', 'none', '--read-only', '--pull', 'never', '--memory', '64m', '--pids-limit', '16'];
  const args = ['run', '--rm', ...limits, ...mounts, '--entrypoint', '/bin/sh', name, '-c', `echo ${token}`];
  const { stdout } = await run(program, args, { timeout: probeMilliseconds });
  if (stdout.trim() !== token) throw new Error('it printed nothing');
}

/** The programs of the user's image, by their paths in it. */
async function toolchainOf(program: string, image: string): Promise<Toolchain> {
  const find = 'for name in node python3 python go cargo; do command -v "$name" || echo; done';
  const args = ['run', '--rm', '--network', 'none', '--pull', 'never', '--entrypoint', '/bin/sh', image, '-c', find];
  const [node, python3, python, go, cargo] = (await run(program, args, { timeout: probeMilliseconds })).stdout.split(
    '\n',
  );
  return {
    node: node || null,
    python: python3 || python || null,
    java: null,
    go: go || null,
    cargo: cargo || null,
    launcher: { program: node || 'node', env: {} },
    path: [],
    folders: [],
    env: {},
  };
}

async function existing(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => stat(folder).catch(() => null)));
  return folders.filter((_, index) => found[index]?.isDirectory());
}
