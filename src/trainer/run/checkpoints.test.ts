import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCheckpoints, latestCheckpoint, listCheckpoints, stepOf, writeCheckpoint } from './checkpoints.js';
import { keepWithinBudget } from './diskBudget.js';
import { runPaths } from './runDirectory.js';

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-checkpoints-'));
  folder = path.join(root, 'checkpoints');
});
afterEach(() => rmSync(root, { recursive: true }));

const save = (target: string) => {
  writeFileSync(path.join(target, 'model.safetensors'), 'weights');
  return Promise.resolve();
};
const state = (step: number, reward: number | null = null) =>
  ({ version: 1, step, seed: 1, curriculumCursor: step * 8, reward }) as const;

describe('checkpoints', () => {
  it('are found again, the latest first to be resumed from', async () => {
    expect(await latestCheckpoint(folder)).toBeNull();
    await writeCheckpoint(folder, state(5), save);
    await writeCheckpoint(folder, state(10), save);
    const latest = await latestCheckpoint(folder);
    expect(latest?.state).toEqual(state(10));
    expect(existsSync(path.join(latest!.folder, 'model.safetensors'))).toBe(true);
  });

  it('are the last two and the best', async () => {
    for (const [step, reward] of [
      [1, 0.2],
      [2, 0.9],
      [3, 0.1],
      [4, 0.3],
      [5, null],
    ] as const) {
      await writeCheckpoint(folder, state(step, reward), save);
    }
    expect((await listCheckpoints(folder)).map((checkpoint) => checkpoint.state.step)).toEqual([2, 4, 5]);
  });

  it('are as many as wished, with those of every so many steps, the ends of stages and step 0 of a whole warm start', async () => {
    const kept = { keepLast: 1, keepBest: false, keepEvery: 4 };
    const steps = async () => (await listCheckpoints(folder)).map((checkpoint) => checkpoint.state.step);
    await writeCheckpoint(folder, { ...state(0), warmStartUpdates: 5 }, save, kept);
    await writeCheckpoint(folder, state(1), save, kept);
    expect(await steps()).toEqual([1]);
    await writeCheckpoint(folder, state(0), save, kept);
    for (let step = 2; step <= 9; step++) {
      await writeCheckpoint(folder, { ...state(step, 1 / step), ...(step === 3 && { stageEnd: true }) }, save, kept);
    }
    expect(await steps()).toEqual([0, 3, 4, 8, 9]);
  });

  it('go, the oldest first, where a run is over its disk budget, and the run stops where that is not enough', async () => {
    const paths = runPaths(root);
    const keepAll = { keepLast: 9, keepBest: true, keepEvery: 0 };
    const large = (target: string) => {
      writeFileSync(path.join(target, 'model.safetensors'), Buffer.alloc(1000));
      return Promise.resolve();
    };
    for (const step of [0, 1, 2, 3]) await writeCheckpoint(folder, state(step), large, keepAll);
    await keepWithinBudget(paths, 3e-6, false);
    expect((await listCheckpoints(folder)).map((checkpoint) => checkpoint.state.step)).toEqual([0, 3]);
    await expect(keepWithinBudget(paths, 1e-6, false)).rejects.toMatchObject({ kind: 'bad-input' });
    await keepWithinBudget(paths, 1e-6, true);
    await keepWithinBudget(paths, 0, false);
    expect((await listCheckpoints(folder)).map((checkpoint) => checkpoint.state.step)).toEqual([0, 3]);
  });

  it('are absent where saving failed, and what it left behind goes with the next', async () => {
    await writeCheckpoint(folder, state(1), save);
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    await expect(writeCheckpoint(folder, state(2), () => Promise.reject(full))).rejects.toThrow(/disk full/);
    expect((await latestCheckpoint(folder))?.state.step).toBe(1);
    mkdirSync(path.join(folder, '.step-000003'));
    await writeCheckpoint(folder, state(4), save);
    expect(readdirSync(folder).sort()).toEqual(['step-000001', 'step-000004']);
  });

  it('replace an earlier one of the same step', async () => {
    await writeCheckpoint(folder, state(1, 0), save);
    await writeCheckpoint(folder, state(1, 1), save);
    expect((await listCheckpoints(folder)).map((checkpoint) => checkpoint.state.reward)).toEqual([1]);
  });

  it('that are broken say so', async () => {
    const { folder: broken } = await writeCheckpoint(folder, state(1), save);
    writeFileSync(path.join(broken, 'state.json'), '{}');
    await expect(latestCheckpoint(folder)).rejects.toMatchObject({ kind: 'bad-input' });
  });

  it('that are whole are found beside broken ones, which are named with what is wrong', async () => {
    const keepAll = { keepLast: 9, keepBest: false, keepEvery: 0 };
    for (const step of [1, 2, 3, 4]) await writeCheckpoint(folder, state(step), save, keepAll);
    const stateFile = (step: number) => path.join(folder, `step-00000${step}`, 'state.json');
    writeFileSync(stateFile(2), '{"version":1,');
    writeFileSync(stateFile(3), JSON.stringify({ ...state(3), step: -3 }));
    rmSync(stateFile(4));
    const found = await findCheckpoints(folder);
    expect(found.map(stepOf)).toEqual([1, 2, 3, 4]);
    expect(found.map((one) => ('error' in one ? one.error.line : 'whole'))).toEqual([
      'whole',
      expect.stringMatching(/step-000002 is broken \(state\.json: .*JSON.*\)\. Delete its folder/),
      expect.stringMatching(/step-000003 is broken \(state\.json: step: Too small.*\)\. Delete its folder/),
      expect.stringMatching(/step-000004 is broken \(state\.json: ENOENT.*\)\. Delete its folder/),
    ]);
    await expect(listCheckpoints(folder)).rejects.toThrow(/step-000002 is broken/);
  });
});
