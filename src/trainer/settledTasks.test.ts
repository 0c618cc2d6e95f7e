import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTask } from '../env/folderEnvironment.testing.js';
import { excludeTask } from '../env/tasks/excludedTasks.js';
import { writeTasks } from '../env/tasks/taskStore.js';
import { createRun } from './run/createRun.js';
import type { RunConfig } from './run/runRecord.js';
import { openRun } from './run/runReader.js';
import { settingsSchema } from './run/settings.js';
import { settledTasks } from './settledTasks.js';

const tests = { FAIL_TO_PASS: ['a'], PASS_TO_PASS: ['b'] };

let root: string;
let stateFolder: string;
beforeEach(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-settled-'));
  stateFolder = path.join(root, '.whetstone');
  const tasks = [
    makeTask({ instance_id: 'one', ...tests }),
    makeTask({ instance_id: 'two', ...tests }),
    makeTask({ instance_id: 'three', ...tests }, { split: 'heldout' }),
  ];
  const funnel = { found: 3, skipped: {}, invalid: {}, flaky: 0, kept: 3, sources: {} };
  await writeTasks(stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
});
afterEach(() => rmSync(root, { recursive: true }));

async function settle(runId: string): Promise<RunConfig['taskIds']> {
  const config: RunConfig = {
    version: 1,
    runId,
    createdAt: '',
    repoRoot: root,
    headCommit: '',
    settings: settingsSchema.parse({}),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  };
  await createRun(stateFolder, config);
  return again(runId, config);
}
async function again(runId: string, config: RunConfig) {
  const environment = { stateFolder } as Parameters<typeof settledTasks>[0];
  const { signal } = new AbortController();
  const settled = await settledTasks(environment, config, openRun(stateFolder, runId), signal, () => undefined);
  return settled.config.taskIds;
}

describe('the tasks that a run settles on', () => {
  it('are those of the repository without the ones that a person left out', async () => {
    await excludeTask(stateFolder, 'one', '');
    await excludeTask(stateFolder, 'three', '');
    expect(await settle('run')).toEqual({ train: ['two'], heldout: [] });
  });

  it('stay the same when a task is left out later', async () => {
    const before = await settle('run');
    await excludeTask(stateFolder, 'one', '');
    const run = openRun(stateFolder, 'run');
    expect(await again('run', await run.config())).toEqual(before);
  });

  it('are missed in words where all were left out', async () => {
    await excludeTask(stateFolder, 'one', '');
    await excludeTask(stateFolder, 'two', '');
    await expect(settle('run')).rejects.toThrow(/No task is left to train on/);
  });
});
