import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeCheckpoint } from '../trainer/run/checkpoints.js';
import { runPaths, runsFolder } from '../trainer/run/runDirectory.js';
import { openRun } from '../trainer/run/runReader.js';
import { checkpointIfAny, checkpointOf, otherPlayer } from './players.js';

let stateFolder: string;
let checkpoints: string;
beforeEach(async () => {
  stateFolder = mkdtempSync(path.join(os.tmpdir(), 'whetstone-players-'));
  const paths = runPaths(path.join(runsFolder(stateFolder), 'r1'));
  checkpoints = paths.checkpoints;
  mkdirSync(paths.folder, { recursive: true });
  writeFileSync(paths.config, '{}');
  const state = { version: 1, seed: 1, curriculumCursor: 0, reward: null } as const;
  const kept = { keepLast: 9, keepBest: false, keepEvery: 0 };
  for (const step of [1, 2, 3]) {
    await writeCheckpoint(checkpoints, { ...state, step }, () => Promise.resolve(), kept);
  }
});
afterEach(() => rmSync(stateFolder, { recursive: true }));

const folderOf = (step: number) => path.join(checkpoints, `step-00000${step}`);
const breakOne = (step: number) => writeFileSync(path.join(folderOf(step), 'state.json'), '{');

describe('the checkpoint that a text names', () => {
  it('is the newest, or that of the step', async () => {
    expect(await checkpointOf(stateFolder, 'r1')).toBe(folderOf(3));
    expect(await checkpointOf(stateFolder, 'r1:2')).toBe(folderOf(2));
    expect(await checkpointIfAny(openRun(stateFolder, 'r1'))).toBe(folderOf(3));
  });

  it('is found although another one is broken', async () => {
    breakOne(2);
    expect(await checkpointOf(stateFolder, 'r1')).toBe(folderOf(3));
    expect(await checkpointOf(stateFolder, 'r1:1')).toBe(folderOf(1));
    expect(await checkpointIfAny(openRun(stateFolder, 'r1'))).toBe(folderOf(3));
  });

  it('is refused where it is broken itself: no other one is played in its place', async () => {
    breakOne(3);
    const broken = /step-000003 is broken \(state\.json: /;
    await expect(checkpointOf(stateFolder, 'r1:3')).rejects.toThrow(broken);
    await expect(checkpointOf(stateFolder, 'r1')).rejects.toThrow(broken);
    await expect(checkpointIfAny(openRun(stateFolder, 'r1'))).rejects.toThrow(broken);
  });
});

describe('who plays in place of a policy of ours', () => {
  it.each(['expert', 'random-edit', 'random-edit:1', 'operator-search:12', 'memorized'])('may be %s', (policy) => {
    expect(otherPlayer(policy, undefined, []).converse).toBeTypeOf('function');
  });

  it.each(['random-edit:0', 'random-edit:', 'operator-search:1.5', 'random-edit:12345', 'Expert', 'openai:'])(
    'is not %s',
    (policy) => {
      expect(() => otherPlayer(policy, undefined, [])).toThrow(`There is no policy '${policy}'.`);
    },
  );
});
