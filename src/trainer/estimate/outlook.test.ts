import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../run/runRecord.js';
import { createRun } from '../run/createRun.js';
import { RunWriter } from '../run/runWriter.js';
import { settingsSchema } from '../run/settings.js';
import { trainingOutlook } from './outlook.js';
import { meanEpisode } from './recordedEpisodes.js';

type Step = Extract<RunEvent, { type: 'step' }>;

let root: string;
beforeEach(() => (root = mkdtempSync(path.join(os.tmpdir(), 'whetstone-outlook-'))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

const step = (number: number, rollouts: number, metrics: Record<string, number>): Omit<Step, 'at'> => ({
  type: 'step',
  step: number,
  metrics,
  groups: [
    { taskId: 'one', trajectoryIds: Array.from({ length: rollouts }, (_, i) => `${number}/${i}`), advantages: [] },
  ],
});
const steps = [
  step(1, 4, { 'completions/mean_length': 100, num_tokens: 2000, 'timing/rollout': 40 }),
  step(2, 1, { 'completions/mean_length': 200, num_tokens: 3000, 'timing/rollout': 60 }),
];

describe('what a training would take', () => {
  const places = () => ({ repoRoot: root, stateFolder: path.join(root, '.whetstone') });
  const devices = [{ name: 'cpu' as const, gflops: 40, decodedGigabytes: 4 }];

  it('counts episodes as long as they may be before there is a run', async () => {
    const outlook = await trainingOutlook(places(), settingsSchema.parse({ maxTurns: 3 }), devices);
    expect(outlook).toMatchObject({
      model: 'embedded',
      episode: { tokens: 2048, sampled: 960, run: null, besideSeconds: null },
      heldoutEpisodes: null,
    });
    expect(outlook!.devices.map(({ name }) => name)).toEqual(['cpu']);
  });

  it('takes them to be like those of the newest run with the model, tests and all', async () => {
    const { stateFolder, repoRoot } = places();
    for (const [runId, model] of [
      ['a', 'embedded'],
      ['b', 'other'],
    ]) {
      const settings = settingsSchema.parse({ model });
      const rest = { createdAt: '', headCommit: '0'.repeat(40), taskIds: { train: [], heldout: [] }, sandbox: '' };
      const paths = await createRun(stateFolder, { version: 1, runId, repoRoot, settings, ...rest });
      const writer = new RunWriter(paths);
      for (const event of steps) writer.event(event);
      writer.close();
    }
    const outlook = await trainingOutlook(places(), settingsSchema.parse({}), devices);
    expect(outlook!.episode).toMatchObject({ tokens: 600, sampled: 120, run: 'a' });
    // 20 seconds an episode by the clock, on the CPU: with the same settings there they are found again.
    expect(outlook!.devices[0].time.rollouts / 64).toBeCloseTo(20, 9);
    expect(outlook!.episode.besideSeconds).toBeLessThan(20);
    const twice = devices.map(({ name }) => ({ name, gflops: 80, decodedGigabytes: 8 }));
    const faster = await trainingOutlook(places(), settingsSchema.parse({ groupSize: 16 }), twice);
    expect(faster!.devices[0].time.rollouts / 128).toBeCloseTo(20, 9);
  });

  it('knows the settings that go on with an adapter, whose own alpha may count otherwise', async () => {
    const folder = path.resolve('test-fixtures/golden/llama-tied/lora');
    const outlook = await trainingOutlook(places(), settingsSchema.parse({ model: folder }), devices);
    const { rank, alpha, targets } = outlook!.adapter!;
    expect([rank, targets]).toEqual([4, settingsSchema.parse({}).lora.targets]);
    // rslora: 5 / sqrt(4) is what 10 / 4 is.
    expect(alpha).toBeCloseTo(10, 12);
    const plain = await trainingOutlook(places(), settingsSchema.parse({}), devices);
    expect(plain!.adapter).toBeNull();
  });

  it('says where a device refuses to play ahead, and asks nobody where nothing is', async () => {
    const both = [...devices, { ...devices[0], name: 'webgpu' as const }];
    const refusals = async (maxStaleness: number) => {
      const outlook = await trainingOutlook(places(), settingsSchema.parse({ asynchrony: { maxStaleness } }), both);
      return outlook!.devices.map(({ refusal }) => refusal?.message ?? null);
    };
    expect(await refusals(0)).toEqual([null, null]);
    expect(await refusals(1)).toEqual([null, expect.stringMatching(/`asynchrony.maxStaleness`: on 'webgpu'/)]);
  });

  it('is not known of a model on the hub that was not fetched', async () => {
    vi.stubEnv('HF_HUB_CACHE', root);
    expect(await trainingOutlook(places(), settingsSchema.parse({ model: 'nobody/nothing' }), devices)).toBeNull();
  });

  it('is refused in one line where there is no such model', async () => {
    const settings = settingsSchema.parse({ model: './none.gguf' });
    await expect(trainingOutlook(places(), settings, devices)).rejects.toThrow(/no model folder .*none\.gguf/);
  });
});

describe('the mean of the rollouts of a run', () => {
  it('weighs each step by what it played', () => {
    const mean = meanEpisode(steps.map((event) => ({ at: '', ...event })));
    expect(mean).toEqual({ tokens: 600, sampled: 120, seconds: 20 });
  });

  it('is not known where nothing was played', () => {
    expect(meanEpisode([])).toBeNull();
    expect(meanEpisode([{ at: '', ...step(1, 0, { num_tokens: 0 }) }])).toBeNull();
  });
});
