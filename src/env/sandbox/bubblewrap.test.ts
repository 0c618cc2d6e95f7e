import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildJanitor, TemporaryFolders } from '../fixtureRepository.testing.js';
import { Bubblewrap, bubblewrapProblem } from './bubblewrap.js';
import { Janitor } from './janitorClient.js';
import { findProgram } from './programs.js';
import { findToolchain } from './toolchain.js';

const temporary = new TemporaryFolders();
const janitor = new Janitor();
beforeAll(async () => janitor.start(await buildJanitor(await temporary.folder())));
afterAll(async () => {
  await janitor.stop();
  await temporary.remove();
});

/** A sandbox whose bubblewrap fails to set up this many times, as it does where something is unmounted under its eyes. */
async function failingSandbox(failures: number) {
  const folder = await temporary.folder('failing');
  const programs = path.join(folder, 'bin');
  const worktree = path.join(folder, 'tree');
  await Promise.all([mkdir(programs), mkdir(worktree)]);
  const toolchain = await findToolchain(worktree, []);
  const real = await findProgram('bwrap', toolchain.path);
  const count = path.join(folder, 'count');
  const script = `#!/bin/sh
echo x >> '${count}'
if [ $(wc -l < '${count}') -le ${failures} ]; then echo "bwrap: Can't bind mount" >&2; exit 1; fi
exec '${real}' "$@"
`;
  await writeFile(path.join(programs, 'bwrap'), script);
  await chmod(path.join(programs, 'bwrap'), 0o755);
  const found = { ...toolchain, path: [programs, ...toolchain.path] };
  const view = { worktree, mountPath: worktree, readOnly: [], writable: [] };
  const command = { argv: ['/bin/sh', '-c', 'echo ran; exit 3'], cwd: '.', timeoutMs: 20_000, maxOutputBytes: 1000 };
  return () => new Bubblewrap(found, false, [], janitor).run(view, command);
}

describe.skipIf((await bubblewrapProblem()) !== null)('bubblewrap', () => {
  it('is set up again where that failed for a moment, and the command runs once', async () => {
    const run = await failingSandbox(2);
    expect(await run()).toMatchObject({ outcome: 'exited', exitCode: 3, output: 'ran\n' });
  });

  it('that cannot be set up is a failure of the sandbox, with its reason', async () => {
    const run = await failingSandbox(1000);
    await expect(run()).rejects.toMatchObject({
      kind: 'infrastructure',
      message: "The sandbox could not be set up: bwrap: Can't bind mount.",
    });
  });
});
