import { execFileSync } from 'node:child_process';
import { mkdtemp, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeFolder } from './removeFolder.js';

describe.skipIf(process.platform === 'win32')('a folder is deleted', () => {
  it.each([
    [
      'whose folders are nested deeper than a path may be long',
      'for i in $(seq 700); do mkdir deep-deeper; cd deep-deeper || break; done; : > end',
    ],
    ['with folders that may not be written', 'mkdir -p a/b; : > a/b/c; chmod 500 a/b; chmod 000 a'],
    [
      'with names that are no text',
      `mkdir "$(printf '\\377')"; : > "$(printf '\\377/\\376')"; chmod 500 "$(printf '\\377')"`,
    ],
  ])('%s', async (_, script) => {
    const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'whetstone-remove-')));
    execFileSync('/bin/sh', ['-c', script], { cwd: folder });
    await removeFolder(folder);
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
