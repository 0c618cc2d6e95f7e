import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runGit, TemporaryFolders, writeFiles } from '../fixtureRepository.testing.js';
import { openRepository } from '../repo/repository.js';
import { repositoryNotes } from './repositoryNotes.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

async function notesOf(folder: string, usesHistory = true): Promise<string[]> {
  const repository = await openRepository(folder);
  return repositoryNotes(repository, await repository.captureDirtyTree(), { usesHistory });
}

describe('repositoryNotes', () => {
  it('says nothing of a whole clone', async () => {
    expect(await notesOf(await temporary.repository({ 'a.js': '1\n' }))).toEqual([]);
  });

  it('says what a shallow clone lacks, where the history is used', async () => {
    const whole = await temporary.repository({ 'a.js': '1\n' });
    await writeFiles(whole, { 'a.js': '2\n' });
    await runGit(whole, 'commit', '--quiet', '--all', '--message=Second');
    const folder = path.join(await temporary.folder(), 'clone');
    await runGit(whole, 'clone', '--quiet', '--depth=1', `file://${whole}`, folder);
    expect(await notesOf(folder)).toEqual([
      'This is a shallow clone (commits: 1); `git fetch --unshallow` brings the whole history.',
    ]);
    expect(await notesOf(folder, false)).toEqual([]);
  });

  it('counts large files, and names submodules that are not checked out', async () => {
    const inner = await temporary.repository({ 'a.js': '1\n' });
    const folder = await temporary.repository({
      '.gitattributes': '*.bin filter=lfs\n',
      'a.bin': 'version https://git-lfs.github.com/spec/v1\n',
    });
    await runGit(folder, 'submodule', '--quiet', 'add', inner, 'parts/inner');
    await runGit(folder, 'commit', '--quiet', '--message=Submodule');
    await runGit(folder, 'submodule', '--quiet', 'deinit', '--force', 'parts/inner');
    expect(await notesOf(folder)).toEqual([
      'Files in large file storage (LFS): 1. Tests find their pointers in their place.',
      'Submodules that are not checked out: parts/inner. `git submodule update --init` brings them.',
    ]);
  });
});
