import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRun } from '../../trainer/run/createRun.js';
import type { RunPaths } from '../../trainer/run/runDirectory.js';
import { openRun } from '../../trainer/run/runReader.js';
import { RunWriter } from '../../trainer/run/runWriter.js';
import { settingsSchema } from '../../trainer/run/settings.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { headersAmongOthers } from './headersAmongOthers.js';
import type { RunOf } from './runTree.js';

let root: string;
let stateFolder: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-headers-'));
  stateFolder = path.join(root, '.whetstone');
});
afterEach(() => rmSync(root, { recursive: true }));

const store = { reader: (folder: string, runId: string) => Promise.resolve().then(() => openRun(folder, runId)) };
const idsOf = async (run: RunOf) => (await headersAmongOthers(store, run)).map(({ id }) => id);

async function create(runId: string): Promise<RunPaths> {
  return createRun(stateFolder, {
    version: 1,
    runId,
    createdAt: '',
    repoRoot: root,
    headCommit: '',
    settings: settingsSchema.parse({}),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  });
}

/** A run with a trajectory of this id. */
async function write(runId: string, id: string): Promise<RunPaths> {
  const paths = await create(runId);
  const writer = new RunWriter(paths);
  writer.trajectory(trajectoryOf(id));
  writer.close();
  return paths;
}

const runOf = (id: string): RunOf => ({
  repository: { root, stateFolder, name: 'repository' },
  summary: {
    id,
    folder: path.join(stateFolder, 'runs', id),
    status: 'completed',
    stage: null,
    step: 0,
    steps: 1,
    createdAt: '',
    message: '',
  },
  findings: [],
});

function trajectoryOf(id: string): Trajectory {
  return {
    id,
    kind: 'rollout',
    step: 1,
    taskId: 'a task',
    split: 'train',
    sample: 0,
    seed: 0,
    temperature: 1,
    policyStep: 0,
    sandbox: 'unconfined',
    nodes: [],
    stopReason: 'submitted',
    infrastructureError: null,
    grade: null,
    patch: '',
    statistics: {
      turns: 0,
      toolCalls: {},
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 0,
      sampledTokens: 0,
      totalTokens: 0,
      seconds: 0,
    },
  };
}

it('runs whose trajectories are broken, unreadable or gone have no headers, and hide no others', async () => {
  await write('whole', 'one');
  const broken = await write('broken', 'two');
  appendFileSync(broken.trajectories, '{"id":\n');
  const unreadable = await create('unreadable');
  rmSync(unreadable.trajectories, { force: true });
  mkdirSync(unreadable.trajectories);
  const runs = ['whole', 'broken', 'unreadable', 'gone'].map(runOf);
  expect(await Promise.all(runs.map(idsOf))).toEqual([['one'], [], [], []]);
  // Opened by itself it still says what is wrong.
  const opened = await store.reader(stateFolder, 'broken');
  await expect(opened.headers()).rejects.toThrow(/trajectories\.jsonl: the record at byte \d+ is broken/);
});

it('a mistake of ours is not taken for a broken run', async () => {
  const failing = { reader: () => Promise.reject(new TypeError('x is not a function')) };
  await expect(headersAmongOthers(failing, runOf('whole'))).rejects.toThrow(TypeError);
});
