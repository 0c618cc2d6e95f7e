import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runGit, TemporaryFolders } from '../fixtureRepository.testing.js';
import { treeChanges } from './treeChanges.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

describe.skipIf(process.platform === 'win32')('treeChanges', () => {
  it('says which files became programs, or are so no longer', async () => {
    const folder = await temporary.folder();
    const [template, tree] = ['template', 'tree'].map((name) => path.join(folder, name));
    for (const root of [template, tree]) {
      await mkdir(root);
      await writeFile(path.join(root, 'a.sh'), 'a\n', { mode: 0o644 });
      await writeFile(path.join(root, 'b.sh'), 'b\n', { mode: 0o755 });
    }
    await runGit(template, 'init', '--quiet');
    await chmod(path.join(tree, 'a.sh'), 0o755);
    await chmod(path.join(tree, 'b.sh'), 0o644);
    await writeFile(path.join(tree, 'c.sh'), 'c\n', { mode: 0o755 });
    await writeFile(path.join(tree, 'd.sh'), 'd\n', { mode: 0o644 });
    expect(await treeChanges(template, tree, [])).toEqual([
      { path: 'a.sh', before: 'a\n', after: 'a\n', executable: true },
      { path: 'b.sh', before: 'b\n', after: 'b\n', executable: false },
      { path: 'c.sh', before: null, after: 'c\n', executable: true },
      { path: 'd.sh', before: null, after: 'd\n' },
    ]);
  });
});
