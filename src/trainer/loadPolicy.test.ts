import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPolicy, type Policy } from './loadPolicy.js';
import { saveCheckpoint } from './model/checkpoint.js';
import { loadModel, merged } from './model/loadModel.js';
import { refusalToPlayAhead } from './model/playedWeights.js';
import { parseSettings, type SettingsInput } from './run/settings.js';
import { writeTinyPolicy } from './tinyPolicy.testing.js';

let root: string;
let model: string;
const policies: Policy[] = [];
beforeEach(async () => {
  root = mkdtempSync(path.join(os.tmpdir(), "lora 'ö "));
  model = await writeTinyPolicy(root);
});
afterEach(async () => {
  for (const policy of policies.splice(0)) await policy.dispose();
  rmSync(root, { recursive: true });
});

const lora = { rank: 4, alpha: 8 };
async function load(settings: SettingsInput, isPlayedAhead = false): Promise<Policy> {
  const whole = parseSettings({ model, device: 'cpu', deterministic: true, ...settings });
  const policy = await loadPolicy(whole, root, undefined, isPlayedAhead);
  policies.push(policy);
  return policy;
}

const sequence = { tokenIds: Int32Array.of(5, 6, 7, 8), actionMask: Uint8Array.of(0, 0, 1, 1) };
const logprobs = async (learner: Policy['learner']) => (await learner.score([sequence], 1))[0].logprobs.slice(2);
async function learn({ learner }: Policy): Promise<void> {
  const adamw = { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1 };
  for (let step = 0; step < 3; step++) {
    await learner.accumulate([sequence], [{ logprobs: Float32Array.of(0, 0, -1, -1), entropies: null }], 1);
    await learner.step(adamw);
  }
}
const greedy = async ({ generator }: Policy) => {
  const sampling = { maxNewTokens: 5, stopTokenIds: [], temperature: 0, topP: 1, topK: 0, seed: 1 };
  return generator.generate({ tokenIds: Int32Array.of(5, 6, 7), sessionId: 'one', ...sampling });
};

describe('a policy with an adapter', () => {
  it('starts as its model, learns, and generates with what it has learned', async () => {
    const [bare, adapted] = [await load({}), await load({ lora })];
    expect(await logprobs(adapted.learner)).toEqual(await logprobs(bare.learner));
    const before = await logprobs(adapted.learner);
    await learn(adapted);
    adapted.generator.invalidate();
    const after = await logprobs(adapted.learner);
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before));
    const { tokenIds, logprobs: sampled } = await greedy(adapted);
    const continued = {
      tokenIds: Int32Array.of(5, 6, 7, ...tokenIds),
      actionMask: Uint8Array.of(0, 0, 0, 1, 1, 1, 1, 1),
    };
    const [scores] = await adapted.learner.score([continued], 1);
    sampled.forEach((value, index) => expect(value).toBeCloseTo(scores.logprobs[3 + index], 4));
  });

  it('keeps a reference that does not learn with it', async () => {
    const policy = await load({ lora });
    const before = await logprobs(policy.learner);
    await learn(policy);
    const reference = await policy.openReference();
    expect(await logprobs(reference)).toEqual(before);
    expect(await logprobs(policy.learner)).not.toEqual(before);
    await reference.dispose();
  });

  it('saves the adapter alone, which resumes, and is a model of its own for whoever plays it', async () => {
    const policy = await load({ lora });
    await learn(policy);
    const folder = path.join(root, 'step-1');
    await policy.learner.save(folder, { optimizer: true });
    expect(readdirSync(folder).sort()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
      'optimizer.safetensors',
    ]);
    const resumed = await load({ lora });
    await resumed.learner.load(folder, { optimizer: true });
    await learn(policy);
    await learn(resumed);
    expect(await logprobs(resumed.learner)).toEqual(await logprobs(policy.learner));

    await resumed.learner.load(folder, { optimizer: false });
    const learned = await logprobs(resumed.learner);
    const played = await load({ model: folder });
    (await logprobs(played.learner)).forEach((value, t) => expect(value).toBeCloseTo(learned[t], 5));
    const continued = await load({ model: folder, lora });
    expect(await logprobs(continued.learner)).toEqual(learned);
    await expect(load({ model: folder, lora: { rank: 8, alpha: 8 } })).rejects.toThrow(
      /has other settings than `lora`/,
    );
  });

  it('learns in float16 too, resumes bit for bit, and plays what it learned in float32', async () => {
    const half = { lora, precision: 'float16' } as const;
    const policy = await load(half);
    const before = await logprobs(policy.learner);
    (await logprobs((await load({ lora })).learner)).forEach((value, t) => expect(before[t]).toBeCloseTo(value, 1));
    await learn(policy);
    const folder = path.join(root, 'step-1');
    await policy.learner.save(folder, { optimizer: true });
    const resumed = await load(half);
    await resumed.learner.load(folder, { optimizer: true });
    await learn(policy);
    await learn(resumed);
    expect(await logprobs(resumed.learner)).toEqual(await logprobs(policy.learner));
    const reference = await policy.openReference();
    expect(await logprobs(reference)).toEqual(before);
    await reference.dispose();
    await resumed.learner.load(folder, { optimizer: false });
    const learned = await logprobs(resumed.learner);
    expect(Math.min(...learned)).toBeGreaterThan(Math.max(...before));
    const played = await load({ model: folder });
    (await logprobs(played.learner)).forEach((value, t) => expect(value).toBeCloseTo(learned[t], 1));
  });

  it('is what float16 takes: all parameters are refused', async () => {
    await expect(load({ precision: 'float16' })).rejects.toMatchObject({
      kind: 'bad-input',
      line: 'In float16 only an adapter is trained, and the settings ask for all parameters. Give --lora-rank, or use --precision float32.',
    });
  });

  it('says of a rank-stabilized adapter the alpha that goes on with it', async () => {
    const policy = await load({ lora });
    await learn(policy);
    const folder = path.join(root, 'stabilized');
    await policy.learner.save(folder, { optimizer: false });
    const file = path.join(folder, 'adapter_config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...config, use_rslora: true }));
    const failure = await load({ model: folder, lora }).catch((error: Error) => error.message);
    const [, alpha] = /rank 4, alpha ([\d.]+), targets/.exec(failure as string) ?? [];
    const [played, continued] = [
      await load({ model: folder }),
      await load({ model: folder, lora: { rank: 4, alpha: Number(alpha) } }),
    ];
    const wanted = await logprobs(played.learner);
    (await logprobs(continued.learner)).forEach((value, t) => expect(value).toBeCloseTo(wanted[t], 5));
  });

  it('merges into a checkpoint of the usual layout', async () => {
    const policy = await load({ lora });
    await learn(policy);
    const folder = path.join(root, 'adapter');
    await policy.learner.save(folder, { optimizer: false });
    const { config, parameters, folder: sourceFolder } = merged(await loadModel(folder));
    const whole = path.join(root, 'whole');
    await saveCheckpoint(whole, { config, parameters, sourceFolder });
    const learned = await logprobs(policy.learner);
    const loaded = await load({ model: whole });
    (await logprobs(loaded.learner)).forEach((value, t) => expect(value).toBeCloseTo(learned[t], 5));
  });
});

describe('a policy that is played ahead', () => {
  it.each([
    ['all parameters', {}],
    ['an adapter', { lora }],
  ])('plays with the weights that it is told to while the learner learns: %s', async (_, settings) => {
    const policy = await load(settings, true);
    const played = async () => [...(await greedy(policy)).logprobs];
    const [start, first] = [policy.played.keep(), await played()];
    await learn(policy);
    // Nothing of what was learned is in it, also where its caches are computed anew.
    policy.generator.invalidate();
    expect(await played()).toEqual(first);
    const learned = policy.played.keep();
    policy.played.use();
    const second = await played();
    expect(second).not.toEqual(first);
    await learn(policy);
    policy.played.use(start);
    expect(await played()).toEqual(first);
    policy.played.use(learned);
    expect(await played()).toEqual(second);
  });

  it('is none where the learner shares its weights with it', async () => {
    const policy = await load({});
    const first = [...(await greedy(policy)).logprobs];
    const kept = policy.played.keep();
    await learn(policy);
    policy.played.use(kept);
    expect([...(await greedy(policy)).logprobs]).not.toEqual(first);
  });

  it('is refused by name on a device that keeps the weights', () => {
    expect(refusalToPlayAhead('cpu')).toBeNull();
    expect(refusalToPlayAhead('webgpu')).toMatchObject({
      kind: 'bad-input',
      line: expect.stringMatching(/`asynchrony.maxStaleness`: on 'webgpu' .* --max-staleness 0/) as string,
    });
  });
});
