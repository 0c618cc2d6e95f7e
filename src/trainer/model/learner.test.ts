import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { goldenNames, readGoldenModel, relativeError, type GoldenModel } from '../../../test/support/goldenModels.js';
import { goldenStep, type GoldenStep } from '../../../test/support/goldenStep.js';
import { runBundled } from '../../../test/support/runBundled.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import { createLearner, type LearnerOptions, type LlamaLearner, type WeightFiles } from './learner.js';
import type { SequenceCoefficients, SequenceScores, TrainingSequence } from './policy.js';
import { readSafetensors, writeSafetensors } from './safetensors.js';
import { parameterShapes } from './llamaConfig.js';

const learners: LlamaLearner[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const learner of learners.splice(0)) await learner.dispose();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function learnerOf(golden: GoldenModel, options: Partial<LearnerOptions> = {}): Promise<LlamaLearner> {
  const files: WeightFiles = {
    write: async (folder, parameters) => {
      const shapes = parameterShapes(golden.config);
      const tensors = [...parameters].map(([name, data]) => [name, { shape: shapes.get(name)!, data }] as const);
      await writeSafetensors(join(folder, 'model.safetensors'), new Map(tensors));
    },
    read: async (folder) =>
      new Map(
        [...(await readSafetensors(join(folder, 'model.safetensors')))].map(
          ([name, { data }]) => [name, data] as const,
        ),
      ),
  };
  const { config } = golden;
  const parameters = await golden.parameters();
  const learner = await createLearner({ config, parameters, device: 'cpu', threads: 2, files, ...options });
  learners.push(learner);
  return learner;
}

async function gradientsOf(learner: LlamaLearner, golden: GoldenModel): Promise<Map<string, Float32Array>> {
  await learner.accumulate(golden.sequences, golden.coefficients, golden.gradientTemperature);
  return new Map([...learner.gradients].map(([name, values]) => [name, values.slice()]));
}

describe.each(goldenNames)('the learner on %s', (name) => {
  it('gives the log-probabilities and entropies that PyTorch gives, NaN where none was asked for', async () => {
    const golden = await readGoldenModel(name);
    const learner = await learnerOf(golden);
    for (const { temperature, logprobs, entropies } of golden.scores) {
      const scores = await learner.score(golden.sequences, temperature);
      golden.sequences.forEach(({ actionMask }, index) => {
        actionMask.forEach((asked, place) => {
          const { logprobs: foundLogprobs, entropies: foundEntropies } = scores[index];
          if (!asked) {
            expect(foundLogprobs[place]).toBeNaN();
            expect(foundEntropies[place]).toBeNaN();
          } else {
            expect(Math.abs(foundLogprobs[place] - logprobs[index][place - 1])).toBeLessThan(1e-4);
            expect(Math.abs(foundEntropies[place] - entropies[index][place - 1])).toBeLessThan(1e-4);
          }
        });
      });
    }
  });

  it('gives the gradients that PyTorch gives', async () => {
    const golden = await readGoldenModel(name);
    const found = await gradientsOf(await learnerOf(golden), golden);
    expect([...found.keys()].sort()).toEqual([...golden.gradients.keys()].sort());
    for (const [parameter, wanted] of golden.gradients) {
      expect(relativeError(found.get(parameter)!, wanted), parameter).toBeLessThan(1e-4);
    }
  });

  it('takes the AdamW steps that PyTorch takes, norms without decay', async () => {
    const golden = await readGoldenModel(name);
    const learner = await learnerOf(golden);
    for (let step = 0; step < golden.steps; step++) {
      await learner.accumulate(golden.sequences, golden.coefficients, golden.stepTemperature);
      const { gradientNorm, skipped } = await learner.step(golden.optimizer);
      expect(skipped).toBe(false);
      expect(gradientNorm / golden.gradientNorms[step]).toBeCloseTo(1, 4);
    }
    for (const [parameter, wanted] of golden.afterSteps) {
      expect(relativeError(learner.parameters.get(parameter)!, wanted), parameter).toBeLessThan(1e-5);
    }
  });
});

/** One shape of each way to see the past: all of it, a sliding window, without turned positions. */
describe.each(['llama-grouped', 'mistral', 'smollm3'] as const)('the work of the learner on %s', (name) => {
  it('does not depend on micro-batches, packing or padding, nor on how a sequence is cut', async () => {
    const golden = await readGoldenModel(name);
    const whole = await learnerOf(golden);
    const apart = await learnerOf(golden, { microBatchTokens: 8 });
    const wanted = await gradientsOf(whole, golden);
    const wantedScores = await whole.score(golden.sequences, 1);
    const scores: Float32Array[] = [];
    for (const [index, sequence] of golden.sequences.entries()) {
      await apart.accumulate([sequence], [golden.coefficients[index]], golden.gradientTemperature);
      scores.push((await apart.score([sequence], 1))[0].logprobs);
    }
    scores.forEach((logprobs, index) =>
      logprobs.forEach((value, place) => {
        const other = wantedScores[index].logprobs[place];
        if (golden.sequences[index].actionMask[place]) expect(Math.abs(value - other)).toBeLessThan(1e-5);
      }),
    );
    for (const [parameter, gradient] of wanted) {
      expect(relativeError(apart.gradients.get(parameter)!, gradient), parameter).toBeLessThan(1e-5);
    }
  });
  it('computes what rollouts share once, with the gradients of each by itself', async () => {
    const golden = await readGoldenModel(name);
    const { sequences, coefficients } = branching(golden);
    const byItself = await learnerOf(golden);
    const wanted: SequenceScores[] = [];
    for (const [index, sequence] of sequences.entries()) {
      wanted.push(...(await byItself.accumulate([sequence], [coefficients[index]], 0.7)));
    }
    // In one row; as a prompt that others follow; cut into small pieces, one on top of the other.
    for (const microBatchTokens of [512, 24, 8]) {
      const learner = await learnerOf(golden, { microBatchTokens });
      const found = await learner.accumulate(sequences, coefficients, 0.7);
      expectClose(found, wanted);
      expectClose(await learner.score(sequences, 0.7), wanted);
      for (const [parameter, gradient] of byItself.gradients) {
        expect(relativeError(learner.gradients.get(parameter)!, gradient), parameter).toBeLessThan(1e-5);
      }
    }
  });
});

describe('the learner', () => {
  it('gives the same bits for the same inputs, also in a fresh process', async () => {
    const first = await goldenStep('llama-grouped', 'cpu');
    expect(await goldenStep('llama-grouped', 'cpu')).toEqual(first);
    const output = await runBundled('test/support/goldenStepMain.ts', ['llama-grouped', 'cpu'], { timeoutMs: 50_000 });
    const elsewhere = JSON.parse(output) as GoldenStep;
    expect(elsewhere.gradients).toEqual(first.gradients);
    expect(elsewhere.parameters).toEqual(first.parameters);
  });

  it('learns a token by descending on minus its log-probability', async () => {
    const golden = await readGoldenModel('llama-tied');
    const learner = await learnerOf(golden);
    const sequence = { tokenIds: Int32Array.of(3, 7, 11), actionMask: Uint8Array.of(0, 0, 1) };
    const before = (await learner.score([sequence], 1))[0].logprobs[2];
    for (let step = 0; step < 10; step++) {
      await learner.accumulate([sequence], [{ logprobs: Float32Array.of(0, 0, -1), entropies: null }], 1);
      await learner.step({ ...golden.optimizer, learningRate: 1e-2 });
    }
    expect((await learner.score([sequence], 1))[0].logprobs[2]).toBeGreaterThan(before + 1);
  });

  it('changes nothing at a learning rate of 0: parameters and log-probabilities stay equal to the bit over 10 steps', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerOf(golden);
    const bits = async () =>
      (await learner.score(golden.sequences, 1)).map(({ logprobs }) => [...new Int32Array(logprobs.buffer)]);
    const [before, weights] = [await bits(), digest(learner.parameters)];
    for (let step = 0; step < 10; step++) {
      await learner.accumulate(golden.sequences, golden.coefficients, 1);
      const { gradientNorm } = await learner.step({ ...golden.optimizer, weightDecay: 0.1, learningRate: 0 });
      expect(gradientNorm).toBeGreaterThan(0);
      expect(digest(learner.parameters)).toBe(weights);
      expect(await bits()).toEqual(before);
    }
  });

  it('skips a step whose gradient is not finite, says so, and goes on from zero gradients', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerOf(golden);
    const poisoned = golden.coefficients.map((each) => ({ ...each, logprobs: each.logprobs.map(() => Infinity) }));
    await learner.accumulate(golden.sequences, poisoned, 1);
    const { skipped, gradientNorm } = await learner.step(golden.optimizer);
    expect(skipped).toBe(true);
    expect(Number.isFinite(gradientNorm)).toBe(false);
    expect([...learner.parameters]).toEqual([...(await golden.parameters())]);
    await learner.accumulate(golden.sequences, golden.coefficients, golden.stepTemperature);
    expect((await learner.step(golden.optimizer)).gradientNorm / golden.gradientNorms[0]).toBeCloseTo(1, 4);
  });

  it('goes on bit for bit from what it saved, and starts Adam afresh only when asked to', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const folder = await mkdtemp(join(tmpdir(), 'learner '));
    folders.push(folder);
    const advance = async (learner: LlamaLearner) => {
      await learner.accumulate(golden.sequences, golden.coefficients, 1);
      await learner.step(golden.optimizer);
    };
    const original = await learnerOf(golden);
    await advance(original);
    await original.save(folder, { optimizer: true });
    await advance(original);
    await advance(original);

    const resumed = await learnerOf(golden);
    await advance(resumed);
    await advance(resumed);
    await resumed.load(folder, { optimizer: true });
    await advance(resumed);
    await advance(resumed);
    expect(digest(resumed.parameters)).toBe(digest(original.parameters));

    const afresh = await learnerOf(golden);
    await afresh.load(folder, { optimizer: false });
    await advance(afresh);
    await advance(afresh);
    expect(digest(afresh.parameters)).not.toBe(digest(original.parameters));
  });

  it('refuses a checkpoint of another model, or without an optimizer where one is wanted, and stays as it was', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const folder = await mkdtemp(join(tmpdir(), 'learner '));
    folders.push(folder);
    const learner = await learnerOf(golden);
    const before = digest(learner.parameters);
    await (await learnerOf(await readGoldenModel('llama-tied'))).save(folder, { optimizer: false });
    await expect(learner.load(folder, { optimizer: false })).rejects.toThrow(WhetstoneError);
    await (await learnerOf(golden)).save(folder, { optimizer: false });
    await expect(learner.load(folder, { optimizer: true })).rejects.toThrow(/optimizer\.safetensors/);
    expect(digest(learner.parameters)).toBe(before);
  });

  it('refuses a sequence longer than the model, in a line that says how to mend it', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerOf(golden);
    const actionMask = new Uint8Array(65).fill(1, 64);
    await expect(learner.score([{ tokenIds: new Int32Array(65), actionMask }], 1)).rejects.toThrow(
      "A sequence of 65 tokens does not fit the model's 64 positions.",
    );
  });

  it('says in one line that a device cannot be trained on, and can be disposed of all the same', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerOf(golden, { threads: -1 });
    const failure: unknown = await learner.score(golden.sequences, 1).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WhetstoneError);
    expect((failure as WhetstoneError).line).toMatch(/^Cannot train on 'cpu': .* Use --device cpu\.$/);
  });

  it('scores nothing where nothing is asked', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerOf(golden);
    const [scores] = await learner.score([{ tokenIds: Int32Array.of(1, 2), actionMask: Uint8Array.of(0, 0) }], 1);
    expect([...scores.logprobs, ...scores.entropies].every(Number.isNaN)).toBe(true);
    expect(await learner.score([], 1)).toEqual([]);
  });
});

/** Rollouts of one prompt, the first two of which also begin alike, and one of another prompt. */
function branching({ sequences: [, , , long] }: GoldenModel): {
  sequences: TrainingSequence[];
  coefficients: SequenceCoefficients[];
} {
  const ids = [...long.tokenIds];
  const tails = [[...ids.slice(20, 25), 1, 2, 3], [...ids.slice(20, 25), 4, 5, 6, 7, 8, 9], ids.slice(30), [11]];
  const prompted = tails.map((tail) => ({
    tokenIds: Int32Array.from([...ids.slice(0, 20), ...tail]),
    actionMask: Uint8Array.from([
      ...Array<number>(20).fill(0),
      ...tail.map((_, t) => Number(t % 3 !== 1 || t === tail.length - 1)),
    ]),
  }));
  const sequences = [...prompted, { tokenIds: long.tokenIds.slice(5, 25), actionMask: new Uint8Array(20).fill(1, 15) }];
  const coefficients = sequences.map(({ actionMask }, index) => ({
    logprobs: Float32Array.from(actionMask, (bit, t) => bit * (((7 * t + index) % 5) - 2)),
    entropies: Float32Array.from(actionMask, (bit, t) => bit * 0.1 * (((3 * t + index) % 4) - 1)),
  }));
  return { sequences, coefficients };
}

function expectClose(found: readonly SequenceScores[], wanted: readonly SequenceScores[]): void {
  wanted.forEach(({ logprobs, entropies }, index) =>
    logprobs.forEach((value, place) => {
      const { logprobs: others, entropies: otherEntropies } = found[index];
      expect(Number.isNaN(others[place])).toBe(Number.isNaN(value));
      if (Number.isNaN(value)) return;
      expect(Math.abs(others[place] - value)).toBeLessThan(1e-5);
      expect(Math.abs(otherEntropies[place] - entropies[place])).toBeLessThan(1e-5);
    }),
  );
}

function digest(tensors: ReadonlyMap<string, Float32Array>): string {
  const hash = createHash('sha256');
  for (const [name, values] of tensors) {
    hash.update(name).update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }
  return hash.digest('hex');
}
