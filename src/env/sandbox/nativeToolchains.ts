import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './programs.js';

const run = promisify(execFile);
const timeoutMs = 20_000;

/** A compiler with what it needs: folders to be shown read-only, and variables, since HOME is another folder. */
export interface NativeToolchain {
  readonly program: string;
  readonly folders: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Flags of the user's that change what is built; others could start programs or write files. */
const buildFlag = /^--?(tags|mod|ldflags|gcflags|race|trimpath|buildvcs)\b/;

/**
 * The Go that the repository in `folder` is built with: the one on PATH, or the newer one that its go.mod asked for, where
 * that is in the module cache. Modules come from the cache only.
 */
export async function findGo(folder: string, entries: readonly string[]): Promise<NativeToolchain | null> {
  const program = await findProgram('go', entries);
  if (!program) return null;
  const names = ['GOROOT', 'GOMODCACHE', 'GOFLAGS'];
  const ask = (env: Record<string, string>) =>
    run(program, ['env', ...names], {
      cwd: folder,
      timeout: timeoutMs,
      env: { ...process.env, GOPROXY: 'off', ...env },
    })
      .then(({ stdout }) => stdout.split(/\r?\n/))
      .catch(() => null);
  const rows = (await ask({})) ?? (await ask({ GOTOOLCHAIN: 'local' }));
  if (!rows || rows.length < names.length || !path.isAbsolute(rows[0])) return null;
  const [root, cache, flags] = rows;
  const kept = flags.split(' ').filter((flag) => buildFlag.test(flag) && !/^--?buildvcs\b/.test(flag));
  return {
    program: (await findProgram('go', [path.join(root, 'bin')])) ?? program,
    folders: [root, cache],
    env: {
      GOTOOLCHAIN: 'local',
      GOPROXY: 'off',
      GOENV: 'off',
      GOMODCACHE: cache,
      GOFLAGS: [...kept, '-buildvcs=false'].join(' '),
    },
  };
}

/**
 * The Cargo that the repository in `folder` is built with, past rustup's proxies, which would choose once more. Of Cargo's
 * home only what it downloaded is shown: its credentials lie beside.
 */
export async function findRust(folder: string, entries: readonly string[]): Promise<NativeToolchain | null> {
  const [cargo, rustc] = await Promise.all([findProgram('cargo', entries), findProgram('rustc', entries)]);
  if (!cargo || !rustc) return null;
  const env = { ...process.env, RUSTUP_AUTO_INSTALL: '0' };
  const sysroot = await run(rustc, ['--print', 'sysroot'], { cwd: folder, timeout: timeoutMs, env })
    .then(({ stdout }) => stdout.trim())
    .catch(() => null);
  if (sysroot === null || !path.isAbsolute(sysroot)) return null;
  const home = process.env.CARGO_HOME ?? path.join(homedir(), '.cargo');
  return {
    program: (await findProgram('cargo', [path.join(sysroot, 'bin')])) ?? cargo,
    folders: [sysroot, path.join(home, 'registry'), path.join(home, 'git')],
    env: { CARGO_HOME: home, CARGO_NET_OFFLINE: 'true', CARGO_TERM_COLOR: 'never' },
  };
}
