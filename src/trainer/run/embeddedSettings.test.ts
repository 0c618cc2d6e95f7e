import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embeddedDefaults } from './embeddedSettings.js';
import {
  loadSettings,
  loadTrainingSettings,
  settingsFileName,
  settingsSchema,
  type SettingsInput,
} from './settings.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'whetstone-embedded-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const write = (settings: SettingsInput) => writeFile(path.join(root, settingsFileName), JSON.stringify(settings));

describe('a training of the embedded policy', () => {
  it('has defaults of its own, which no other model and nothing but a training has', async () => {
    await write({});
    expect(await loadTrainingSettings(root)).toEqual(settingsSchema.parse(embeddedDefaults));
    expect(await loadTrainingSettings(root, { model: 'a/b' })).toEqual(settingsSchema.parse({ model: 'a/b' }));
    expect(await loadSettings(root)).toEqual(settingsSchema.parse({}));
  });

  it('takes what the file and the flags say instead', async () => {
    await write({ maxTurns: 9, curriculum: { restSteps: 3 } });
    const settings = await loadTrainingSettings(root, { groupSize: 5, steps: undefined, algorithm: { dualClip: 3 } });
    expect(settings).toMatchObject({ maxTurns: 9, groupSize: 5, steps: embeddedDefaults.steps });
    // What goes together is chosen together.
    expect(settings.algorithm).toEqual(settingsSchema.parse({ algorithm: { dualClip: 3 } }).algorithm);
    expect(settings.curriculum).toEqual(settingsSchema.parse({ curriculum: { restSteps: 3 } }).curriculum);
    expect(settings.reward.similarity).toBe(0);
  });

  it('takes weights of the reward that leave no room for shaping', async () => {
    await write({ reward: { tests: 0.5 } });
    const { reward, shaping } = await loadTrainingSettings(root);
    expect(reward).toEqual(settingsSchema.parse({ reward: { tests: 0.5 } }).reward);
    expect(shaping.toolUse).toBe(0);
  });

  it('leaves the number of steps to stages, and the weights to a judge beside them', async () => {
    await write({});
    const judged = await loadTrainingSettings(root, {
      stages: [{ method: 'rejection-sampling', steps: 3 }],
      judge: { url: 'http://localhost:1/v1', model: 'm', weight: 0.5 },
    });
    expect(judged.steps).toBe(3);
    expect(judged.shaping.toolUse).toBe(0);
  });
});
