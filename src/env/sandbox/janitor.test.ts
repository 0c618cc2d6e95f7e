import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { buildJanitor, TemporaryFolders } from '../fixtureRepository.testing.js';

import { Janitor } from './janitorClient.js';
import { runningWith } from './runningWith.testing.js';
import { usableKinds } from './usableKinds.testing.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());
const kinds = await usableKinds();

/** When the owner is killed: as soon as its command is started, or when the command has long been running. */
const moments = [
  { moment: 'while it starts a command', isReached: (mark: string) => runningWith(mark).length > 0 },
  {
    moment: 'while a command runs',
    isReached: (mark: string) => runningWith(mark).filter((argv) => argv[0] === 'sleep').length === 2,
  },
];
const cases = kinds.flatMap((kind, index) =>
  moments.map((moment, other) => ({ ...moment, kind, number: 2 * index + other })),
);

/** Waits for as long as it takes; the test's own time limit ends a wait that is in vain. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(50);
}

describe('the janitor', () => {
  it.each(cases)(
    'leaves nothing behind when its owner is killed $moment in $kind',
    async ({ kind, number, isReached }) => {
      const folder = await temporary.folder();
      const janitorScript = await buildJanitor(folder);
      const repo = await temporary.repository({
        'package.json': '{"scripts":{"test":"node --test"}}',
        'a.test.js': "require('node:test')('a', () => {});\n",
      });
      const mark = `14142.${number}${process.pid}`;
      const owner = path.join(folder, 'owner.ts');
      const from = path.join(import.meta.dirname, '..', 'openEnvironment.ts');
      await writeFile(
        owner,
        `import { openEnvironment } from ${JSON.stringify(from)};
       const options = { path: ${JSON.stringify(repo)}, sandbox: ${JSON.stringify(kind)}, janitorScript: ${JSON.stringify(janitorScript)} };
       const environment = await openEnvironment(options);
       const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
       const argv = ['/bin/sh', '-c', 'setsid sleep ${mark} & sleep ${mark}'];
       void workspace.run({ argv, timeoutMs: 600_000, maxOutputBytes: 1000 });`,
      );
      const outfile = path.join(folder, 'owner.mjs');
      const banner = {
        js: "import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);",
      };
      await build({
        entryPoints: [owner],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        banner,
        logLevel: 'error',
      });
      const child = spawn(process.execPath, [outfile], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      await until(() => isReached(mark));
      const worktrees = path.join(repo, '.whetstone', 'worktrees');
      expect(readdirSync(worktrees)).toHaveLength(1);
      child.kill('SIGKILL');
      await ended;
      await until(
        () =>
          runningWith(mark).length === 0 &&
          readdirSync(worktrees).length === 0 &&
          runningWith(janitorScript).length === 0,
      );
    },
  );

  it('keeps what was taken off its list', async () => {
    const script = await buildJanitor(await temporary.folder());
    const kept = await temporary.folder(`kept "it's" 日本`);
    const gone = path.join(path.dirname(kept), 'gone\nhere');
    await mkdir(gone);
    const janitor = new Janitor();
    janitor.start(script);
    janitor.addFolder(kept);
    janitor.addFolder(gone);
    janitor.removeFolder(kept);
    await janitor.stop();
    expect([existsSync(kept), existsSync(gone)]).toEqual([true, false]);
  });

  it('says what to do where its own file is missing', () => {
    expect(() => new Janitor().start('/no/such/janitor.cjs')).toThrow(/is missing/);
  });
});
