import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, settingsFileName, settingsJsonSchema, settingsSchema } from './settings.js';

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-settings-'))));
afterEach(() => rmSync(root, { recursive: true }));
const write = (value: unknown) =>
  writeFileSync(path.join(root, settingsFileName), typeof value === 'string' ? value : JSON.stringify(value));

describe('settings', () => {
  it('are the defaults, overridden by the file, overridden by flags', async () => {
    expect(await loadSettings(root)).toEqual(settingsSchema.parse({}));
    write({ $schema: './schema.json', steps: 3, groupSize: 4, reward: { similarity: 0.5 } });
    const settings = await loadSettings(root, { steps: 7, seed: undefined, reward: { format: 0 } });
    expect(settings).toMatchObject({ steps: 7, groupSize: 4, seed: 1 });
    expect(settings.reward).toMatchObject({ tests: 1, similarity: 0.5, format: 0, conduct: { lintErrors: 0.5 } });
  });

  it.each([
    [{ steps: -1 }, /whetstone\.config\.json: setting `steps`/],
    [{ stesp: 3 }, /setting `stesp`: there is no such setting/],
    [{ reward: { tests: 'x' } }, /setting `reward\.tests`/],
    [{ reward: { tests: 0.1, similarity: 1 } }, /the weight of the tests must be at least half/],
    [{ groupSize: 1 }, /setting `groupSize`/],
    [{ exploration: { toolEpsilon: 1.1 } }, /setting `exploration\.toolEpsilon`/],
    [{ algorithm: { advantage: 'scored-turns', klPlace: 'reward' } }, /with a KL term in the reward/],
    [{ algorithm: { advantage: 'scored-turns', importanceCorrection: 'v-trace' } }, /`v-trace` needs a critic/],
    [{ algorithm: { advantage: 'gigpo', klPlace: 'reward' } }, /setting `algorithm`: with a KL term in the reward/],
    [{ algorithm: { importanceCorrection: 'v-trace' } }, /setting `algorithm`: .* `v-trace` needs a critic/],
    [{ algorithm: { pivots: 1, advantage: 'gae' } }, /setting `algorithm`: with `pivots` the advantage must be `grpo`/],
    [{ algorithm: { pivots: 1, klPlace: 'reward' } }, /setting `algorithm`: with `pivots` the KL term/],
    [{ stages: [{ method: 'dpo', steps: 2, keep: 3 }] }, /setting `stages\.0\.keep`: there is no such setting/],
    [{ steps: 3, stages: [{ method: 'dpo', steps: 2 }] }, /setting `steps`: it says 3, but the stages have 2/],
    [
      { shaping: { milestones: 0.5, toolUse: 0.3 } },
      /setting `shaping`: .* the tests have 1, less than half of all \(2\.1\)/,
    ],
    [{ judge: { url: 'http://evil.example/v1', model: 'm' } }, /may not choose who is shown episodes and your key/],
    [{ judge: { model: 'm' } }, /setting `judge`: a judge needs both `url` and `model`/],
    [{ reward: { grace: 1 } }, /setting `reward\.grace`: there is no such setting/],
    [{ runners: [{ name: 'own' }] }, /whetstone\.config\.json: `runners\[0\]\.command`: /],
    [{ sandbox: 'unconfined' }, /may not choose `unconfined` for itself/],
    [{ workers: ['http://evil.example'] }, /may not choose who is given its files and your token/],
    [{ workers: ['ftp://a'] }, /setting `workers\.0`: it must be an http or https address/],
    ['{ "steps": 3', /not a JSON object/],
    ['[]', /not a JSON object/],
  ])('name the key that is wrong: %j', async (value, message) => {
    write(value);
    await expect(loadSettings(root)).rejects.toMatchObject({
      kind: 'bad-input',
      message: expect.stringMatching(message) as string,
    });
  });

  it('leave the runners of the tests to the environment', async () => {
    const runner = { name: 'own', command: ['x'], testFiles: ['t'], results: { format: 'tap', stdout: true } };
    write({ steps: 3, runners: [runner] });
    expect(await loadSettings(root)).toEqual(settingsSchema.parse({ steps: 3 }));
  });

  it('name the flag that is wrong', async () => {
    await expect(loadSettings(root, { temperature: 0 })).rejects.toThrow(/^setting `temperature`/);
  });

  it('say what a setting means where its value is wrong, and which there are where its name is', async () => {
    await expect(loadSettings(root, { groupSize: 1 })).rejects.toMatchObject({
      remedy: { message: expect.stringMatching(/^Give another value\. G: rollouts of one task/) as string },
    });
    write({ stesp: 3 });
    await expect(loadSettings(root)).rejects.toMatchObject({
      remedy: { message: expect.stringMatching(/^The settings are: model, device, /) as string },
    });
  });

  it('explain every key in the JSON schema', () => {
    const { properties } = settingsJsonSchema() as { properties: Record<string, { description?: string }> };
    expect(Object.keys(properties).sort()).toEqual(['$schema', 'runners', ...Object.keys(settingsSchema.shape)].sort());
    for (const key of ['runners', ...Object.keys(settingsSchema.shape)])
      expect(properties[key].description).toMatch(/\.$/);
  });

  it('have the JSON schema that editors are given (renew it with `vitest run settings.test --update`)', async () => {
    const file = path.join(import.meta.dirname, '../../../media/whetstone.config.schema.json');
    await expect(`${JSON.stringify(settingsJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(file);
  });
});
