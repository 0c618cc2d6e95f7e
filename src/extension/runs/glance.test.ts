import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRun } from '../../trainer/run/createRun.js';
import { settingsSchema } from '../../trainer/run/settings.js';
import { acquireTrainLock } from '../../trainer/run/trainLock.js';
import { glance } from './glance.js';

let stateFolder: string;
beforeEach(() => (stateFolder = path.join(mkdtempSync(path.join(os.tmpdir(), "glance 'é ")), '.whetstone')));
afterEach(() => rmSync(path.dirname(stateFolder), { recursive: true }));

const create = (runId: string) =>
  createRun(stateFolder, {
    version: 1,
    runId,
    createdAt: '',
    repoRoot: path.dirname(stateFolder),
    headCommit: '',
    settings: settingsSchema.parse({}),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  });

it('a glance at the runs changes when one comes, lives, writes or ends, and only then', async () => {
  const seen = [await glance(stateFolder)];
  const look = async () => {
    const now = await glance(stateFolder);
    expect(seen.map(({ text }) => text)).not.toContain(now.text);
    expect(await glance(stateFolder)).toEqual(now);
    seen.push(now);
    return now.live;
  };
  const paths = await create('r1');
  expect(await look()).toBeNull();
  const lock = await acquireTrainLock(stateFolder, 'r1');
  expect(await look()).toBe(paths.folder);
  for (const file of [paths.process, paths.events, paths.trajectories, paths.learned]) {
    appendFileSync(file, 'a line\n');
    expect(await look()).toBe(paths.folder);
  }
  await create('r2');
  expect(await look()).toBe(paths.folder);
  await lock.release();
  expect(await look()).toBeNull();
});
