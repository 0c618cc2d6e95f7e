import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import { openRepository, type Repository } from '../repo/repository.js';
import { changesOfPatch, changesOfTask } from './taskChanges.js';

describe('what the patches of a task change', () => {
  let root: string;
  let repository: Repository;
  let task: Task;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], { cwd: root })
      .toString()
      .trim();
  const patchOf = (from: string, to: string) =>
    `diff --git a/s um.js b/s um.js\n--- a/s um.js\t\n+++ b/s um.js\t\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'whetstone task changes é '));
    await writeFile(path.join(root, 's um.js'), 'a + b\n');
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '-m', 'A sum');
    repository = await openRepository(root);
    task = {
      instance_id: 'sum',
      patch: patchOf('a - b', 'a + b'),
      whetstone: { base_tree: git('rev-parse', 'HEAD^{tree}'), start_patch: patchOf('a + b', 'a - b') },
    } as Task;
    // The working copy has gone on; it plays no part.
    await writeFile(path.join(root, 's um.js'), 'something else\n');
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it('are read from the tree that the task starts from', async () => {
    expect(await changesOfTask(repository, task, 'start')).toMatchObject([
      { path: 's um.js', before: 'a + b\n', after: 'a - b\n' },
    ]);
    expect(await changesOfTask(repository, task, 'oracle')).toMatchObject([
      { path: 's um.js', before: 'a - b\n', after: 'a + b\n' },
    ]);
  });

  it('are told for a patch that a policy made, new files too', async () => {
    const added =
      'diff --git a/new.js b/new.js\nnew file mode 100644\n--- /dev/null\n+++ b/new.js\n@@ -0,0 +1 @@\n+new\n';
    expect(await changesOfPatch(repository, task, patchOf('a - b', 'b + a') + added)).toMatchObject([
      { path: 'new.js', before: null, after: 'new\n' },
      { path: 's um.js', before: 'a - b\n', after: 'b + a\n' },
    ]);
  });

  it('are refused in words where the patch does not fit', async () => {
    await expect(changesOfPatch(repository, task, patchOf('no such line', 'x'))).rejects.toMatchObject({
      kind: 'failed',
    });
  });
});
