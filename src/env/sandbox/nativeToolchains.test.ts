import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findGo, findRust } from './nativeToolchains.js';
import { findProgram } from './programs.js';

const entries = (process.env.PATH ?? '').split(path.delimiter);
const [go, cargo] = await Promise.all(['go', 'cargo'].map((name) => findProgram(name, entries)));
afterEach(() => vi.unstubAllEnvs());

describe('a compiler and what it needs', () => {
  it.skipIf(!go)("is Go with the user's flags for building, and no network", async () => {
    vi.stubEnv('GOFLAGS', '-tags=a,b -mod=mod -exec=other -toolexec=other');
    const found = await findGo(tmpdir(), entries);
    expect(path.isAbsolute(found?.program ?? '')).toBe(true);
    expect(found?.env).toMatchObject({
      GOPROXY: 'off',
      GOTOOLCHAIN: 'local',
      GOFLAGS: '-tags=a,b -mod=mod -buildvcs=false',
    });
    expect(found?.folders.every((folder) => path.isAbsolute(folder))).toBe(true);
  });

  it.skipIf(!cargo)('is Cargo itself, of whose home only what it downloaded is shown', async () => {
    vi.stubEnv('CARGO_HOME', '/home/ada/.cargo');
    const found = await findRust(tmpdir(), entries);
    expect(found?.folders.slice(1)).toEqual(['/home/ada/.cargo/registry', '/home/ada/.cargo/git']);
    expect(found?.env).toMatchObject({ CARGO_HOME: '/home/ada/.cargo', CARGO_NET_OFFLINE: 'true' });
    expect(found?.program.startsWith(found.folders[0])).toBe(true);
  });

  it('is nothing where there is none', async () => {
    expect(await findGo(tmpdir(), [])).toBeNull();
    expect(await findRust(tmpdir(), [])).toBeNull();
  });
});
