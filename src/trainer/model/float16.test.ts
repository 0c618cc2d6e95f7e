import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readGoldenModel, relativeError, type goldenNames } from '../../../test/support/goldenModels.js';
import { samplingDifference } from '../../../test/support/samplingAgreement.js';
import { loadAdapter, saveAdapter } from './adapterFiles.js';
import { narrowParameters } from './frozenParameters.js';
import { createLearner, type LearnerOptions, type LlamaLearner } from './learner.js';
import { growthInterval, type LossScale } from './lossScale.js';
import { readSafetensors, readSafetensorsHeader, writeSafetensors } from './safetensors.js';

/**
 * Float16 rounds by up to 2^-11 of a number. On the way from the embedding to a gradient some dozens of such errors meet, of which
 * the models of two layers here make up to 1.6e-2 of the largest number.
 */
const tolerance = 4e-2;

type GoldenName = (typeof goldenNames)[number];
const learners: LlamaLearner[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const learner of learners.splice(0)) await learner.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "float16 'ü "));
  folders.push(folder);
  return folder;
}

/** A golden model's matrices in float16, and PEFT's adapter of it. */
async function open(name: GoldenName) {
  const model = await readGoldenModel(name);
  const { config } = model;
  const place = path.join(import.meta.dirname, '..', '..', '..', 'test-fixtures', 'golden', name, 'lora');
  const parameters = narrowParameters(config, await model.parameters());
  const learner = async (options: Partial<LearnerOptions> = {}): Promise<LlamaLearner> => {
    const adapter = await loadAdapter(place, config);
    const files = {
      write: (folder: string, factors: ReadonlyMap<string, Float32Array>) =>
        saveAdapter(folder, config, { config: adapter.config, factors: new Map(factors) }, 'embedded'),
      read: async (folder: string) => (await loadAdapter(folder, config)).factors,
    };
    const opened = await createLearner({ config, parameters, adapter, device: 'cpu', threads: 1, files, ...options });
    learners.push(opened);
    return opened;
  };
  const wanted = new Map(
    [...(await readSafetensors(path.join(place, 'gradients.safetensors')))].map(([key, { data }]) => [
      key.slice('base_model.model.'.length),
      data,
    ]),
  );
  const golden = await readFile(path.join(place, 'golden.json'), 'utf8');
  const { logprobs } = JSON.parse(golden) as { logprobs: number[][] };
  return { model, parameters, place, learner, wanted, logprobs };
}

const scale = (exponent: number): LossScale => ({ scale: 2 ** exponent, updates: 0 });

/** The largest error of all gradients. */
function worstError({ gradients }: LlamaLearner, wanted: ReadonlyMap<string, Float32Array>): number {
  expect([...gradients.keys()].sort()).toEqual([...wanted.keys()].sort());
  return Math.max(...[...wanted].map(([name, values]) => relativeError(gradients.get(name)!, values)));
}

describe('an adapter learns on top of float16 matrices', () => {
  // Biases, norms of queries and keys, layers without rotation, a window: each brings operations of its own.
  it.each([
    ['llama-tied', 2048],
    ['qwen2', 2048],
    ['qwen3', 2048],
    ['smollm3', 2048],
    ['mistral', 8],
  ] as const)('as PEFT does in float32: %s, %i tokens at once', async (name, microBatchTokens) => {
    const { model, learner: create, wanted, logprobs } = await open(name);
    const learner = await create({ microBatchTokens });
    const scores = await learner.accumulate(model.sequences, model.coefficients, model.stepTemperature);
    const error = worstError(learner, wanted);
    expect(error).toBeLessThan(tolerance);
    // It is computed in float16 indeed.
    expect(error).toBeGreaterThan(1e-4);
    const scored = await learner.score(model.sequences, model.stepTemperature);
    model.sequences.forEach(({ actionMask }, index) =>
      actionMask.forEach((asked, place) => {
        if (!asked) return;
        for (const found of [scores, scored])
          expect(Math.abs(found[index].logprobs[place] - logprobs[index][place - 1])).toBeLessThan(tolerance);
      }),
    );
  });

  it('with gradients that do not depend on the scale of the loss', async () => {
    const { model, learner: create } = await open('llama-grouped');
    const [small, large] = [await create({ lossScale: scale(6) }), await create({ lossScale: scale(11) })];
    for (const learner of [small, large]) {
      await learner.accumulate(model.sequences, model.coefficients, model.stepTemperature);
    }
    // Powers of two scale without rounding; what is left is what the smaller scale loses beneath 2^-24.
    expect(worstError(large, small.gradients)).toBeLessThan(1e-3);
    const [one, other] = [await small.step(model.optimizer), await large.step(model.optimizer)];
    // The norm that clips is that of the gradients themselves.
    expect(one.gradientNorm / other.gradientNorm).toBeCloseTo(1, 3);
    expect([one.lossScale, other.lossScale]).toEqual([2 ** 6, 2 ** 11]);
  });

  it('at half of the scale, and half of that, where gradients overflow, and the step is made', async () => {
    const { model, learner: create, wanted } = await open('mistral');
    const learner = await create({ lossScale: scale(24), microBatchTokens: 8 });
    await learner.accumulate(model.sequences, model.coefficients, model.stepTemperature);
    expect(worstError(learner, wanted)).toBeLessThan(tolerance);
    const { skipped, lossScale } = await learner.step(model.optimizer);
    expect(skipped).toBe(false);
    expect(lossScale).toBeLessThan(2 ** 24);
    expect(lossScale).toBeGreaterThan(1);
  });

  it('not at all where no scale makes the gradients finite: the step is skipped, the scale stays', async () => {
    const { model, learner: create } = await open('llama-grouped');
    const learner = await create({ lossScale: scale(3) });
    const before = [...learner.parameters].map(([, values]) => values.slice());
    const poisoned = model.coefficients.map((each) => ({ ...each, logprobs: each.logprobs.map(() => Infinity) }));
    await learner.accumulate(model.sequences, poisoned, 1);
    expect(await learner.step(model.optimizer)).toMatchObject({ skipped: true, lossScale: 8 });
    expect([...learner.parameters].map(([, values]) => values)).toEqual(before);
    await learner.accumulate(model.sequences, model.coefficients, 1);
    expect(await learner.step(model.optimizer)).toMatchObject({ skipped: false, lossScale: 8 });
  });

  it('on bit for bit from what was saved, the scale of the loss and its count among it', async () => {
    const { model, learner: create } = await open('llama-grouped');
    const advance = async (learner: LlamaLearner) => {
      await learner.accumulate(model.sequences, model.coefficients, 1);
      return learner.step(model.optimizer);
    };
    const folder = await temporaryFolder();
    const first = await create({ lossScale: { scale: 2 ** 5, updates: growthInterval - 2 } });
    await advance(first);
    await first.save(folder, { optimizer: true });
    const second = await create();
    await second.load(folder, { optimizer: true });
    for (const grown of [2 ** 5, 2 ** 6]) {
      const [one, other] = [await advance(first), await advance(second)];
      expect(one.lossScale).toBe(grown);
      expect(other).toEqual(one);
      expect(second.parameters).toEqual(first.parameters);
    }

    const file = path.join(folder, 'optimizer.safetensors');
    const { step } = (await readSafetensorsHeader(file)).metadata;
    await writeSafetensors(file, await readSafetensors(file), { metadata: { step } });
    await expect(second.load(folder, { optimizer: true })).rejects.toMatchObject({
      kind: 'bad-input',
      line: expect.stringMatching(/it names no scale of the loss/) as string,
    });
  });

  it('and speaks in the generator as in the learner', async () => {
    const { model, parameters, place, learner: create } = await open('llama-grouped');
    const options = { config: model.config, parameters, adapter: await loadAdapter(place, model.config) };
    expect(await samplingDifference(options, await create())).toBeLessThan(tolerance);
  });
});

describe('float16 parameters', () => {
  it('are the matrices; what they were made of is let go', async () => {
    const model = await readGoldenModel('qwen2');
    const full = await model.parameters();
    const narrowed = narrowParameters(model.config, full);
    expect(full.size).toBe(0);
    for (const [name, values] of await model.parameters()) {
      const isMatrix = /(proj|embed_tokens|lm_head)\.weight$/.test(name);
      if (isMatrix) expect(narrowed.get(name), name).toBeInstanceOf(Uint16Array);
      else expect(narrowed.get(name), name).toEqual(values);
    }
  });

  it('are refused by name where a number is too large', async () => {
    const model = await readGoldenModel('llama-tied');
    const full = await model.parameters();
    const name = 'model.layers.0.mlp.up_proj.weight';
    full.get(name)![3] = -7e4;
    expect(() => narrowParameters(model.config, full)).toThrow(/up_proj\.weight" holds -70000, for which float16/);
  });

  it('are not trained themselves', async () => {
    const { model, parameters } = await open('llama-tied');
    const files = { write: () => Promise.reject(new Error()), read: () => Promise.reject(new Error()) };
    const created = createLearner({ config: model.config, parameters, device: 'cpu', threads: 1, files });
    await expect(created).rejects.toThrow('internal: parameters in float16, or on a device, cannot be trained.');
  });
});
