import { expect, it } from 'vitest';
import { makeRepository, runCli } from './runCli.js';

it('answers `runs stop --json` with one document where nothing is to be stopped', async () => {
  const folder = await makeRepository({ 'a.js': '1;\n' });
  const { code, stdout } = await runCli(['runs', 'stop', '--repo', folder, '--json']);
  expect(JSON.parse(stdout)).toEqual({ id: null, status: null });
  expect(code).toBe(0);
});
