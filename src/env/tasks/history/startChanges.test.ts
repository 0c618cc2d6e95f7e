import { chmod, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runGit, TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { openRepository } from '../../repo/repository.js';
import { startTreeChanges } from './startChanges.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const OLD: Files = {
  'src/a.js': 'old\n',
  'src/gone.js': 'no longer there – “é”\n',
  'src/run.sh': '#!/bin/sh\n',
  'src/same.js': 'same\n',
  'test/a.test.js': 'old test\n',
};

/** A parent, its commit (source and test changed), and a head that has moved on by `change`. */
async function history(change: (folder: string) => Promise<void>) {
  const folder = await temporary.repository(OLD);
  await chmod(path.join(folder, 'src/run.sh'), 0o755);
  const commit = async () => {
    await runGit(folder, 'add', '--all');
    await runGit(folder, 'commit', '--quiet', '--message=Next');
    return runGit(folder, 'rev-parse', 'HEAD');
  };
  const parent = await commit();
  await writeFiles(folder, { 'src/a.js': 'mended\n', 'test/a.test.js': 'new test\n' });
  const candidate = { commit: await commit(), parent, testFiles: ['test/a.test.js'] };
  await change(folder);
  const repository = await openRepository(folder);
  await commit();
  const changes = await startTreeChanges(repository, await runGit(folder, 'rev-parse', 'HEAD^{tree}'), candidate);
  return changes?.map(({ path: name, after, executable }) => [name, after, executable]).sort();
}

describe('the changes that make a start tree of another', () => {
  it("are the parent's files and the commit's tests, where they differ", async () => {
    const found = await history(async (folder) => {
      await rm(path.join(folder, 'src/gone.js'));
      await chmod(path.join(folder, 'src/run.sh'), 0o644);
      await writeFiles(folder, { 'src/later.js': 'later\n', 'test/a.test.js': 'newest test\n' });
    });
    expect(found).toEqual([
      ['src/a.js', 'old\n', false],
      ['src/gone.js', 'no longer there – “é”\n', false],
      ['src/later.js', null, undefined],
      ['src/run.sh', '#!/bin/sh\n', true],
      ['test/a.test.js', 'new test\n', false],
    ]);
  });

  it('are none where a file is no text, or a link', async () => {
    expect(
      await history((folder) => writeFile(path.join(folder, 'data'), Buffer.from([0xff, 0xfe, 0]))),
    ).toBeUndefined();
    expect(await history((folder) => symlink('a.js', path.join(folder, 'src/link.js')))).toBeUndefined();
  });
});
