import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { say } from '../../trajectory/said.js';
import type { Janitor } from './janitorClient.js';
import { runOnHost } from './runOnHost.js';
import type { Sandbox, SandboxCommand, SandboxProblem, SandboxResult, SandboxView } from './sandbox.js';
import type { Toolchain } from './toolchain.js';

const run = promisify(execFile);
const program = '/usr/bin/sandbox-exec';
/** People's files, other disks and everybody's temporary files. */
const hidden = ['/Users', '/Volumes', '/private/var/root', '/private/tmp', '/private/var/tmp', '/private/var/folders'];

/**
 * Confines with macOS's seatbelt: no network, nothing writable but the worktree, its scratch folder and what is given to
 * it, people's files unreadable. Seatbelt mounts nothing, so the tree lies at its own path, and dependencies are links.
 */
export class Seatbelt implements Sandbox {
  readonly kind = 'seatbelt';
  readonly remounts = false;

  constructor(
    readonly toolchain: Toolchain,
    readonly janitor: Janitor,
  ) {}

  run(view: SandboxView, command: SandboxCommand): Promise<SandboxResult> {
    return runOnHost(this, view, command, async (scratch) => {
      // Seatbelt compares real paths: a folder reached through a link (as /tmp is) would not be found by its name.
      const real = (folders: readonly string[]) => Promise.all(folders.map((folder) => realpath(folder)));
      const writable = await real([view.worktree, scratch, ...view.writable.map(({ source }) => source)]);
      const readable = await real([...this.toolchain.folders, ...view.readOnly.map(({ source }) => source)]);
      return [program, '-p', seatbeltProfile(writable, readable)];
    });
  }
}

/** A profile in seatbelt's own language, in which the last rule that fits counts. Paths are real and absolute. */
export function seatbeltProfile(writable: readonly string[], readable: readonly string[]): string {
  const places = (folders: readonly string[]) => folders.map((folder) => `(subpath ${quoted(folder)})`).join(' ');
  return [
    '(version 1)',
    '(allow default)',
    '(deny network*)',
    '(deny file-write*)',
    `(deny file-read-data ${places(hidden)})`,
    `(allow file-read* ${places([...writable, ...readable])})`,
    `(allow file-write* ${places(writable)})`,
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))',
    '(deny process-info* (target others))',
    '(allow process-info* (target same-sandbox))',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    '(deny mach-priv-task-port)',
    '(deny appleevent-send)',
  ].join('\n');
}

const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Null where seatbelt holds here, tried out: a command starts, and can neither write, read nor connect where it must not. */
export async function seatbeltProblem(): Promise<SandboxProblem | null> {
  const remedy = say`Use a container (--sandbox docker:IMAGE), or --sandbox unconfined for a repository that you trust.`;
  const base = await realpath(await mkdtemp(path.join(tmpdir(), 'whetstone-seatbelt-')));
  const [token, secret] = [randomUUID(), randomUUID()];
  const listener = net.createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
  try {
    await once(listener, 'listening');
    const { port } = listener.address() as net.AddressInfo;
    await writeFile(path.join(base, 'secret'), secret);
    const script = 'cat secret; echo x > file && echo written; nc -z -G 2 127.0.0.1 "$2" && echo connected; echo "$1"';
    const argv = ['-p', seatbeltProfile([], []), '/bin/sh', '-c', script, 'sh', token, String(port)];
    const { stdout } = await run(program, argv, { cwd: base, timeout: 20_000 });
    if (!stdout.includes(token)) return { problem: say`seatbelt, the sandbox, ran and printed nothing.`, remedy };
    if ([secret, 'written', 'connected'].some((sign) => stdout.includes(sign))) {
      return { problem: say`seatbelt, the sandbox, does not confine on this system.`, remedy };
    }
    return null;
  } catch (error) {
    return { problem: say`seatbelt, the sandbox, fails to start: ${(error as Error).message.split('\n')[0]}.`, remedy };
  } finally {
    listener.close();
    await rm(base, { recursive: true, force: true });
  }
}
