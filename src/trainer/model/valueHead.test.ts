import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readGoldenModel, relativeError, type GoldenModel } from '../../../test/support/goldenModels.js';
import { branchedLearner } from './branchedLearner.js';
import { createLearner, type LlamaLearner } from './learner.js';
import { freshAdapter, type Adapter } from './lora.js';
import type { SequenceCoefficients } from './policy.js';
import { freshValueHead, valueHeadParameter } from './valueHead.js';

const { weight, bias } = valueHeadParameter;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** The critic's weight is `weights`, 0 beyond. */
async function learnerWith(
  golden: GoldenModel,
  weights: readonly number[],
  { adapter, microBatchTokens }: { adapter?: Adapter; microBatchTokens?: number } = {},
): Promise<LlamaLearner> {
  const { config } = golden;
  const parameters = await golden.parameters();
  const head = freshValueHead(config);
  head.get(weight)!.set(weights);
  const saved = new Map<string, Map<string, Float32Array>>();
  const learner = await createLearner({
    config,
    parameters,
    ...(adapter && { adapter }),
    valueHead: head,
    device: 'cpu',
    threads: 2,
    microBatchTokens,
    files: {
      write: (folder, written) => {
        saved.set(folder, new Map([...written].map(([name, values]) => [name, values.slice()])));
        return Promise.resolve();
      },
      read: (folder) => Promise.resolve(saved.get(folder)!),
    },
  });
  cleanups.push(() => learner.dispose());
  return learner;
}

/** Weights of a critic that depends on every hidden number. */
const uneven = (size: number) => Array.from({ length: size }, (_, i) => Math.sin(3 * i + 1));

const coefficientsOf = (golden: GoldenModel): SequenceCoefficients[] =>
  golden.coefficients.map((each, index) => ({
    ...each,
    stateValues: Float32Array.from(golden.sequences[index].actionMask, (bit, t) => bit * Math.cos(t + index)),
  }));

/** sum(c * logp + e * H + v * V) in double precision. */
async function objective(learner: LlamaLearner, golden: GoldenModel, coefficients: readonly SequenceCoefficients[]) {
  const scores = await learner.score(golden.sequences, golden.gradientTemperature);
  return golden.sequences.reduce(
    (sum, { actionMask }, index) =>
      actionMask.reduce((total, bit, t) => {
        if (bit === 0) return total;
        const { logprobs, entropies, stateValues } = coefficients[index];
        const found = scores[index];
        const ofEntropy = entropies ? entropies[t] * found.entropies[t] : 0;
        return total + logprobs[t] * found.logprobs[t] + ofEntropy + stateValues![t] * found.stateValues![t];
      }, sum),
    0,
  );
}

describe('a learner with a critic', () => {
  it('values each token by what was seen before it, as the weight says, whatever the temperature', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const { hiddenSize } = golden.config;
    // A weight of one 1 shows one number of the hidden states.
    const hidden = await Promise.all(
      Array.from({ length: hiddenSize }, async (_, i) => {
        const learner = await learnerWith(golden, [...new Array<number>(i).fill(0), 1]);
        return (await learner.score(golden.sequences, 1)).map(({ stateValues }) => stateValues!);
      }),
    );
    const learner = await learnerWith(golden, uneven(hiddenSize));
    const scores = await learner.score(golden.sequences, 0.5);
    await learner.accumulate(golden.sequences, coefficientsOf(golden), 0.5);
    const gradient = new Float64Array(hiddenSize);
    let biasGradient = 0;
    golden.sequences.forEach(({ actionMask }, index) =>
      actionMask.forEach((bit, t) => {
        const { stateValues } = scores[index];
        if (bit === 0) return expect(stateValues![t]).toBeNaN();
        const value = uneven(hiddenSize).reduce((sum, w, i) => sum + w * hidden[i][index][t], 0);
        expect(stateValues![t]).toBeCloseTo(value, 4);
        const coefficient = coefficientsOf(golden)[index].stateValues![t];
        biasGradient += coefficient;
        for (let i = 0; i < hiddenSize; i++) gradient[i] += coefficient * hidden[i][index][t];
      }),
    );
    expect(relativeError(learner.gradients.get(weight)!, Float32Array.from(gradient))).toBeLessThan(1e-5);
    expect(learner.gradients.get(bias)![0]).toBeCloseTo(biasGradient, 5);
  });

  it.each(['llama-grouped', 'qwen3', 'mistral'] as const)(
    'has the slope of the objective along the gradient of every parameter of %s',
    async (name) => {
      const golden = await readGoldenModel(name);
      const learner = await learnerWith(golden, uneven(golden.config.hiddenSize));
      const coefficients = coefficientsOf(golden);
      await learner.accumulate(golden.sequences, coefficients, golden.gradientTemperature);
      for (const [parameter, values] of learner.parameters) {
        const gradient = learner.gradients.get(parameter)!;
        const norm = Math.hypot(...gradient);
        expect(norm, parameter).toBeGreaterThan(0);
        const before = values.slice();
        const size = 2e-3;
        const at = async (sign: number) => {
          values.forEach((_, i) => (values[i] = before[i] + (sign * size * gradient[i]) / norm));
          return objective(learner, golden, coefficients);
        };
        const slope = ((await at(1)) - (await at(-1))) / (2 * size);
        values.set(before);
        expect(slope / norm, parameter).toBeCloseTo(1, 2);
      }
    },
  );

  it('computes the same in small pieces, on top of one another, and on a tree of tokens', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const weights = uneven(golden.config.hiddenSize);
    const [whole, pieces] = [
      await learnerWith(golden, weights),
      await learnerWith(golden, weights, { microBatchTokens: 8 }),
    ];
    const coefficients = coefficientsOf(golden);
    const wanted = await whole.accumulate(golden.sequences, coefficients, 1);
    const trees = golden.sequences.map(({ tokenIds, actionMask }) => ({
      tokenIds,
      actionMask,
      branches: [{ positions: Int32Array.from(tokenIds, (_, t) => t), actionMask }],
    }));
    const found = await branchedLearner(pieces).accumulate(trees, coefficients, 1);
    wanted.forEach(({ stateValues }, index) =>
      stateValues!.forEach((value, t) => {
        if (Number.isNaN(value)) expect(found[index].stateValues![t]).toBeNaN();
        else expect(found[index].stateValues![t]).toBeCloseTo(value, 4);
      }),
    );
    for (const [parameter, gradient] of whole.gradients) {
      expect(relativeError(pieces.gradients.get(parameter)!, gradient), parameter).toBeLessThan(1e-5);
    }
  });

  it('scores the policy as one without, and a fresh critic leaves its gradients alone', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerWith(golden, []);
    await learner.accumulate(golden.sequences, coefficientsOf(golden), golden.gradientTemperature);
    for (const [parameter, wanted] of golden.gradients) {
      expect(relativeError(learner.gradients.get(parameter)!, wanted), parameter).toBeLessThan(1e-4);
    }
  });

  it.each(['whole', 'adapter'])('goes on bit for bit from what it saved (%s), critic and all', async (kind) => {
    const golden = await readGoldenModel('llama-grouped');
    const adapter = () =>
      kind === 'adapter'
        ? { adapter: freshAdapter(golden.config, { rank: 2, alpha: 4, targets: ['q_proj', 'v_proj'] }, 3) }
        : {};
    const folder = await mkdtemp(join(tmpdir(), 'critic '));
    cleanups.push(() => rm(folder, { recursive: true }));
    const options = { ...golden.optimizer, valueLearningRate: 1e-2 };
    const advance = async (learner: LlamaLearner) => {
      await learner.accumulate(golden.sequences, coefficientsOf(golden), 1);
      await learner.step(options);
    };
    const original = await learnerWith(golden, [], adapter());
    await advance(original);
    await original.save(folder, { optimizer: true });
    const afterOne = new Map([...original.parameters].map(([name, values]) => [name, values.slice()]));
    await advance(original);
    const resumed = await learnerWith(golden, [], adapter());
    await advance(resumed);
    await resumed.save(folder, { optimizer: true });
    await advance(resumed);
    await resumed.load(folder, { optimizer: true });
    expect([...resumed.parameters]).toEqual([...afterOne]);
    await advance(resumed);
    expect([...resumed.parameters]).toEqual([...original.parameters]);
    expect(resumed.parameters.get(weight)!.some((value) => value !== 0)).toBe(true);
  });

  it('refuses a checkpoint without a critic, in a line that says how to mend it', async () => {
    const golden = await readGoldenModel('llama-grouped');
    const learner = await learnerWith(golden, []);
    await expect(learner.load('/nowhere', { optimizer: false })).rejects.toThrow(
      "The checkpoint '/nowhere' has no critic (value_head.safetensors).",
    );
  });
});
