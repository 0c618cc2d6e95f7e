import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { latestCheckpoint, listCheckpoints, writeCheckpoint } from './checkpoints.js';

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
});
