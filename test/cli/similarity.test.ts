import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCli, temporaryFolder } from './runCli.js';

const patch = (line: string) => `--- a/src/a.js\n+++ b/src/a.js\n@@ -1,3 +1,3 @@\n first\n-second\n+${line}\n third\n`;

async function compare(predicted: string, oracle: string, ...flags: string[]): Promise<unknown> {
  const folder = temporaryFolder();
  writeFileSync(path.join(folder, 'predicted'), predicted);
  writeFileSync(path.join(folder, 'oracle'), oracle);
  const { stdout } = await runCli([
    'similarity',
    '--pred',
    path.join(folder, 'predicted'),
    '--oracle',
    path.join(folder, 'oracle'),
    '--json',
    ...flags,
  ]);
  return JSON.parse(stdout);
}

it('prints the reward and the ratio of each file', async () => {
  expect(await compare(patch('mended'), patch('mended'))).toMatchObject({
    reward: 1,
    files: [{ path: 'src/a.js', ratio: 1 }],
  });
  expect(await compare('', patch('mended'))).toMatchObject({ reward: 0 });
  expect(await compare('not a diff', patch('mended'))).toMatchObject({ reward: -1 });
});

it('compares plain texts by code points', async () => {
  // Python: SequenceMatcher(None, 'ab\U0001F600', 'b\U0001F600c', autojunk=False).ratio() == 2 * 2 / 6
  expect(await compare('ab\u{1F600}', 'b\u{1F600}c', '--text')).toEqual({ ratio: 4 / 6 });
});
