import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { bundle } from './runCli.js';

it('a reader that has had enough is no error', async () => {
  const child = spawn(process.execPath, [bundle, 'train', '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (data) => (complaint += String(data)));
  // Before the program has started, let alone written.
  child.stdout.destroy();
  const [code] = (await once(child, 'close')) as [number];
  expect(complaint).toBe('');
  expect(code).toBe(0);
});
