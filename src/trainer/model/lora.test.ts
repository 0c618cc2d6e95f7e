import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { goldenNames, readGoldenModel, relativeError, type GoldenModel } from '../../../test/support/goldenModels.js';
import { samplingDifference } from '../../../test/support/samplingAgreement.js';
import { adapterBase, loadAdapter, saveAdapter } from './adapterFiles.js';
import { createLearner, type LlamaLearner } from './learner.js';
import { freshAdapter, mergeAdapter, projections, type Adapter } from './lora.js';
import { readSafetensors, writeSafetensors } from './safetensors.js';

type GoldenName = (typeof goldenNames)[number];
const prefix = 'base_model.model.';

interface GoldenAdapter {
  readonly logprobs: number[][];
  readonly entropies: number[][];
  readonly steps: number;
  readonly gradientNorms: number[];
}

const learners: LlamaLearner[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const learner of learners.splice(0)) await learner.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

const goldenFolder = (name: string) =>
  path.join(import.meta.dirname, '..', '..', '..', 'test-fixtures', 'golden', name);
const peftFolder = (name: GoldenName) => path.join(goldenFolder(name), 'lora');
const golden = async (name: GoldenName) =>
  JSON.parse(await readFile(path.join(peftFolder(name), 'golden.json'), 'utf8')) as GoldenAdapter;
const tensors = async (name: GoldenName, file: string) =>
  new Map(
    [...(await readSafetensors(path.join(peftFolder(name), file)))].map(([key, { data }]) => [
      key.slice(prefix.length),
      data,
    ]),
  );

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "adapter 'ü "));
  folders.push(folder);
  return folder;
}

async function learnerOf(model: GoldenModel, adapter?: Adapter, microBatchTokens = 2048): Promise<LlamaLearner> {
  const { config } = model;
  const files = {
    write: (folder: string, factors: ReadonlyMap<string, Float32Array>) =>
      saveAdapter(folder, config, { config: adapter!.config, factors: new Map(factors) }, 'embedded'),
    read: async (folder: string) => (await loadAdapter(folder, config)).factors,
  };
  const learner = await createLearner({
    config,
    parameters: await model.parameters(),
    ...(adapter && { adapter }),
    device: 'cpu',
    threads: 2,
    files,
    microBatchTokens,
  });
  learners.push(learner);
  return learner;
}

async function expectScores(learner: LlamaLearner, model: GoldenModel, wanted: GoldenAdapter): Promise<void> {
  const scores = await learner.score(model.sequences, model.stepTemperature);
  model.sequences.forEach(({ actionMask }, index) => {
    actionMask.forEach((asked, place) => {
      if (!asked) return;
      expect(Math.abs(scores[index].logprobs[place] - wanted.logprobs[index][place - 1])).toBeLessThan(1e-4);
      expect(Math.abs(scores[index].entropies[place] - wanted.entropies[index][place - 1])).toBeLessThan(1e-4);
    });
  });
}

describe.each(goldenNames)("PEFT's adapter on %s", (name) => {
  it('gives the log-probabilities and entropies that PEFT gives', async () => {
    const model = await readGoldenModel(name);
    const learner = await learnerOf(model, await loadAdapter(peftFolder(name), model.config));
    await expectScores(learner, model, await golden(name));
  });

  it.each([2048, 8])(
    'gives the gradients that PEFT gives, of nothing but the factors, %i tokens at once',
    async (tokens) => {
      const model = await readGoldenModel(name);
      const learner = await learnerOf(model, await loadAdapter(peftFolder(name), model.config), tokens);
      await learner.accumulate(model.sequences, model.coefficients, model.stepTemperature);
      const wanted = await tensors(name, 'gradients.safetensors');
      expect([...learner.gradients.keys()].sort()).toEqual([...wanted.keys()].sort());
      for (const [factor, gradient] of wanted) {
        expect(relativeError(learner.gradients.get(factor)!, gradient), factor).toBeLessThan(1e-4);
      }
    },
  );

  it('takes the AdamW steps that PyTorch takes, and leaves the model as it is', async () => {
    const model = await readGoldenModel(name);
    const { steps, gradientNorms } = await golden(name);
    const parameters = await model.parameters();
    const adapter = await loadAdapter(peftFolder(name), model.config);
    const files = { write: () => Promise.reject(new Error()), read: () => Promise.reject(new Error()) };
    const learner = await createLearner({
      config: model.config,
      parameters,
      adapter,
      device: 'cpu',
      threads: 2,
      files,
    });
    learners.push(learner);
    for (let step = 0; step < steps; step++) {
      await learner.accumulate(model.sequences, model.coefficients, model.stepTemperature);
      const { gradientNorm } = await learner.step(model.optimizer);
      expect(gradientNorm / gradientNorms[step]).toBeCloseTo(1, 4);
    }
    for (const [factor, wanted] of await tensors(name, 'after-steps.safetensors')) {
      expect(relativeError(adapter.factors.get(factor)!, wanted), factor).toBeLessThan(1e-4);
    }
    expect(parameters).toEqual(await model.parameters());
  });

  it('merges into a model that scores the same', async () => {
    const model = await readGoldenModel(name);
    const parameters = await model.parameters();
    mergeAdapter(model.config, parameters, await loadAdapter(peftFolder(name), model.config));
    const merged = await learnerOf({ ...model, parameters: () => Promise.resolve(parameters) });
    await expectScores(merged, model, await golden(name));
  });

  it('is written back with the tensors and the settings that PEFT reads', async () => {
    const model = await readGoldenModel(name);
    const folder = await temporaryFolder();
    await saveAdapter(folder, model.config, await loadAdapter(peftFolder(name), model.config), '/models/base');
    const file = 'adapter_model.safetensors';
    const plain = async (place: string) =>
      [...(await readSafetensors(path.join(place, file)))].sort(([a], [b]) => a.localeCompare(b));
    expect(await plain(folder)).toEqual(await plain(peftFolder(name)));
    const settings = async (place: string) => {
      const json = JSON.parse(await readFile(path.join(place, 'adapter_config.json'), 'utf8')) as Record<
        string,
        unknown
      >;
      const { peft_type, task_type, r, lora_alpha, lora_dropout, use_rslora, bias, fan_in_fan_out } = json;
      const modules = [...(json.target_modules as string[])].sort();
      return { peft_type, task_type, r, lora_alpha, lora_dropout, use_rslora, bias, fan_in_fan_out, modules };
    };
    expect(await settings(folder)).toEqual(await settings(peftFolder(name)));
    expect(await adapterBase(folder)).toBe('/models/base');
  });
});

describe('an adapter', () => {
  const config = { rank: 4, alpha: 8, targets: projections };

  it('changes nothing while it is fresh, and is the same for the same seed', async () => {
    const model = await readGoldenModel('llama-grouped');
    const fresh = await learnerOf(model, freshAdapter(model.config, config, 7));
    const bare = await learnerOf(model);
    expect(await fresh.score(model.sequences, 1)).toEqual(await bare.score(model.sequences, 1));
    expect(freshAdapter(model.config, config, 7)).toEqual(freshAdapter(model.config, config, 7));
    expect(freshAdapter(model.config, config, 7)).not.toEqual(freshAdapter(model.config, config, 8));
  });

  it('goes on bit for bit from what was saved', async () => {
    const model = await readGoldenModel('llama-tied');
    const advance = async (learner: LlamaLearner) => {
      await learner.accumulate(model.sequences, model.coefficients, 1);
      await learner.step(model.optimizer);
    };
    const folder = await temporaryFolder();
    const first = await learnerOf(model, freshAdapter(model.config, config, 1));
    await advance(first);
    await first.save(folder, { optimizer: true });
    await advance(first);
    const second = await learnerOf(model, freshAdapter(model.config, config, 2));
    await second.load(folder, { optimizer: true });
    await advance(second);
    expect(second.parameters).toEqual(first.parameters);
  });

  it('speaks in the generator as in the learner', async () => {
    const model = await readGoldenModel('llama-grouped');
    const adapter = await loadAdapter(peftFolder('llama-grouped'), model.config);
    const options = { config: model.config, parameters: await model.parameters(), adapter };
    expect(await samplingDifference(options, await learnerOf(model, adapter))).toBeLessThan(5e-5);
  });

  it('names its model by the folder beside it, where there is one', async () => {
    expect(await adapterBase(peftFolder('llama-tied'))).toBe(goldenFolder('llama-tied'));
  });

  it.each([
    ['use_dora', true, /use_dora: it is not supported/],
    ['peft_type', 'IA3', /peft_type: only LORA is supported/],
    ['bias', 'all', /bias: only "none" is supported/],
    ['rank_pattern', { q_proj: 2 }, /rank_pattern: it is not supported/],
    ['r', 2, / and should be \[/],
  ])('is refused by name where its config says %s: %j', async (key, value, message) => {
    const model = await readGoldenModel('llama-grouped');
    const folder = await temporaryFolder();
    await cp(peftFolder('llama-grouped'), folder, { recursive: true });
    const file = path.join(folder, 'adapter_config.json');
    const json = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...json, [key]: value }));
    await expect(loadAdapter(folder, model.config)).rejects.toMatchObject({
      kind: 'bad-input',
      line: expect.stringMatching(message) as string,
    });
  });

  it('is refused in short where the names of its factors are long', async () => {
    const { config: model } = await readGoldenModel('llama-grouped');
    const folder = await temporaryFolder();
    await cp(peftFolder('llama-grouped'), folder, { recursive: true });
    const named = `long\n`.repeat(10_000);
    const factor = { shape: [1], data: Float32Array.of(1) };
    await writeSafetensors(path.join(folder, 'adapter_model.safetensors'), new Map([[named, factor]]));
    const failure: unknown = await loadAdapter(folder, model).catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/there is nothing for 'long\\n.{0,100}…' to change/);
  });

  it('is refused where it belongs to another model', async () => {
    const { config } = await readGoldenModel('llama-tied');
    await expect(loadAdapter(peftFolder('llama-grouped'), config)).rejects.toThrow(/should be \[/);
    await expect(loadAdapter(peftFolder('llama-tied'), { ...config, layers: 1 })).rejects.toThrow(/nothing for/);
    await expect(loadAdapter(peftFolder('llama-tied'), { ...config, layers: 3 })).rejects.toThrow(/is missing/);
  });
});
