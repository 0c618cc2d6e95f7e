import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTask } from '../folderEnvironment.testing.js';
import { excludedFile, excludeTask, includeTask, readExclusions, readIncludedTasks } from './excludedTasks.js';
import { writeTasks } from './taskStore.js';

const tasks = ['one', 'two'].map((instance_id) => makeTask({ instance_id, FAIL_TO_PASS: ['a'], PASS_TO_PASS: ['b'] }));
const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };

let stateFolder: string;
const build = () => writeTasks(stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
const included = async () => (await readIncludedTasks(stateFolder)).map(({ instance_id }) => instance_id);
beforeEach(async () => {
  stateFolder = mkdtempSync(path.join(tmpdir(), 'whetstone-excluded-'));
  await build();
});
afterEach(() => rmSync(stateFolder, { recursive: true }));

describe('tasks that a person left out', () => {
  it('are not among the included ones until they are taken in again', async () => {
    expect(await included()).toEqual(['one', 'two']);
    await excludeTask(stateFolder, 'one', 'needs a network');
    expect(await included()).toEqual(['two']);
    expect((await readExclusions(stateFolder)).get('one')).toMatchObject({ reason: 'needs a network' });
    await includeTask(stateFolder, 'one');
    expect(await included()).toEqual(['one', 'two']);
  });

  it('stay left out when the tasks are built anew', async () => {
    await excludeTask(stateFolder, 'two', '');
    await build();
    expect(await included()).toEqual(['one']);
  });

  it('are remembered in a file that is whole, and nothing is left beside it', async () => {
    await excludeTask(stateFolder, 'one', 'a');
    await excludeTask(stateFolder, 'one', 'b');
    await excludeTask(stateFolder, '__proto__', 'an odd name');
    expect([...(await readExclusions(stateFolder))].map(([id, { reason }]) => [id, reason])).toEqual([
      ['one', 'b'],
      ['__proto__', 'an odd name'],
    ]);
    expect(readdirSync(path.dirname(excludedFile(stateFolder))).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  it.each(['{', '{"version":2,"tasks":{}}', '{"version":1,"tasks":{}}'])(
    'are never taken in by mistake: a damaged file is told (%s)',
    async (text) => {
      writeFileSync(excludedFile(stateFolder), text);
      await expect(included()).rejects.toMatchObject({ kind: 'bad-input' });
    },
  );
});
