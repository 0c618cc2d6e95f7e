import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runGit, TemporaryFolders } from '../fixtureRepository.testing.js';
import { neighbours } from './neighbours.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

it('names the other worktrees and the folder around the repository, as seen from each', async () => {
  const main = await temporary.repository({ 'a.js': 'let a;\n' }, 'main');
  const linked = path.join(await temporary.folder(), 'a feature');
  await runGit(main, 'worktree', 'add', '--detach', linked);
  expect(await neighbours(main)).toEqual([linked, path.dirname(main)]);
  expect(await neighbours(linked)).toEqual([main, path.dirname(linked)]);
});

it('never names a folder that programs need', async () => {
  expect(await neighbours('/repository')).toEqual([]);
  expect(await neighbours('/usr/app')).toEqual([]);
  expect(await neighbours('/usr/src/app')).toEqual(['/usr/src']);
});
