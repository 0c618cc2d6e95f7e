import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Janitor } from '../sandbox/janitorClient.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { OverlayTrees } from './overlayTrees.js';
import { CopiedTrees, type TreeMaker, type WritableTree } from './treeMaker.js';

/** Overlays where the sandbox can enter them and the file system takes them, tried out; else copies. */
export async function chooseTrees(sandbox: Sandbox, stateFolder: string, janitor: Janitor): Promise<TreeMaker> {
  // Other sandboxes run their commands from elsewhere, or show no tree in the place of another.
  if (sandbox.kind !== 'bubblewrap') return new CopiedTrees();
  return (await OverlayTrees.start(stateFolder, janitor, (tree) => isReached(sandbox, tree))) ?? new CopiedTrees();
}

/** Does a command in the sandbox read and write the tree that this process sees? */
async function isReached(sandbox: Sandbox, { root, worktree, enter }: WritableTree): Promise<boolean> {
  const view = { worktree, enter, mountPath: worktree, readOnly: [], writable: [] };
  const argv = ['/bin/sh', '-c', 'cat file && echo inside > file'];
  const { output, exitCode } = await sandbox.run(view, { argv, cwd: '.', timeoutMs: 20_000, maxOutputBytes: 1000 });
  return exitCode === 0 && output === 'after' && (await readFile(path.join(root, 'file'), 'utf8')) === 'inside\n';
}
