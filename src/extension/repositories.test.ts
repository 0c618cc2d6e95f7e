import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRepositories } from './repositories.js';

describe('the repositories of an opened folder', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'whetstone repositories é '));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const make = (...parts: string[]) => mkdir(path.join(root, ...parts), { recursive: true });
  const found = async (...parts: string[]) =>
    (await findRepositories(path.join(root, ...parts))).map((repository) => path.relative(root, repository.root));

  it('is the folder itself, also where repositories lie inside of it', async () => {
    await make('.git');
    await make('vendor', 'inner', '.git');
    await make('inner', '.git');
    expect(await found()).toEqual(['']);
  });

  it('is the one that the folder lies in', async () => {
    await make('.git');
    await make('packages', 'one');
    expect(await found('packages', 'one')).toEqual(['']);
  });

  it('are those in subfolders, other than dependencies and hidden ones', async () => {
    await make('b', '.git');
    await make('group', 'a', '.git');
    await make('node_modules', 'dependency', '.git');
    await make('.cache', 'copy', '.git');
    expect(await found()).toEqual(['b', path.join('group', 'a')]);
  });

  it('are none where there is none', async () => {
    await make('plain');
    expect(await found()).toEqual([]);
  });
});
