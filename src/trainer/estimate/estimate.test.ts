import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { models } from '../../../scripts/bench/models.js';
import type { Provider } from '../graph/provider.js';
import { elementCount, initializeParameters, parameterShapes } from '../model/llamaConfig.js';
import type { Precision } from '../model/precision.js';
import { settingsSchema, type SettingsInput } from '../run/settings.js';
import { estimateMemory, parameterCount, trainedCount } from './memoryEstimate.js';
import { forwardOperations, learningOperations } from './operations.js';
import { estimateTime } from './timeEstimate.js';

const { small } = models;
const settingsOf = (input: SettingsInput = {}) => settingsSchema.parse(input);
const mebibytes = (bytes: number) => bytes / 2 ** 20;
const length = { tokens: 1000, sampled: 300 };
const speed = { name: 'cpu', gflops: 50, decodedGigabytes: 5 } as const;

describe('operations', () => {
  it('are two a weight of a layer and token and of the head and sampled token, and four a width, layer and pair', () => {
    const matrices = [...parameterShapes(small)].filter(
      ([name, shape]) => name.includes('layers') && shape.length === 2,
    );
    const weights = matrices.reduce((sum, [, shape]) => sum + elementCount(shape), 0);
    const pairs = 1000 ** 2 / 2;
    expect(forwardOperations(small, length)).toBe(2 * (1000 * weights + 300 * 256 * 2048) + 4 * 4 * 256 * pairs);
    expect(learningOperations(small, length, false)).toBe(3 * forwardOperations(small, length));
    expect(learningOperations(small, length, true)).toBeLessThan(3 * forwardOperations(small, length));
  });
});

describe('the estimate of memory', () => {
  // The peak that `npm run bench learner` printed on Linux with 2 threads, less the copy of the gradients that it keeps.
  it.each<[string, number, Precision, number]>([
    ['small', 0, 'float32', 809 - 14],
    ['30m', 0, 'float32', 2529 - 114],
    ['30m', 16, 'float32', 1927 - 5],
    ['qwen0.5b', 16, 'float32', 4131 - 34],
    ['small', 16, 'float32', 749 - 1],
    ['small', 16, 'float16', 712 - 1],
    ['30m', 16, 'float16', 1935 - 5],
  ])(
    'comes within 12 percent of what the learner took: %s, an adapter of rank %i, %s',
    (model, rank, precision, measured) => {
      const settings = settingsOf({ klCoefficient: 0, lora: { rank }, precision });
      const { total, caches } = estimateMemory(models[model], settings, 'cpu');
      expect(Math.abs(mebibytes(total - caches) / measured - 1)).toBeLessThan(0.12);
    },
  );

  it('counts the parameters that there are', () => {
    const real = [...initializeParameters(small, 1).values()].reduce((sum, { length }) => sum + length, 0);
    expect(parameterCount(small)).toBe(real);
    expect(trainedCount(small, settingsOf())).toBe(real);
    // Rank 2, of four square projections and three of the feed-forward part, in 4 layers.
    expect(trainedCount(small, settingsOf({ lora: { rank: 2 } }))).toBe(2 * 4 * (4 * 512 + 3 * (256 + 704)));
  });

  it('is the sum of its parts, with a reference only where one is asked for', () => {
    const { total, ...parts } = estimateMemory(small, settingsOf(), 'cpu');
    expect(total).toBe(Object.values(parts).reduce((sum, bytes) => sum + bytes, 0));
    expect(parts.reference).toBe(4 * parameterCount(small));
    expect(estimateMemory(small, settingsOf({ klCoefficient: 0 }), 'cpu').reference).toBe(0);
    const dpo = settingsOf({ klCoefficient: 0, stages: [{ method: 'dpo', steps: 1 }] });
    expect(estimateMemory(small, dpo, 'cpu').reference).toBe(parts.reference);
  });

  it('counts the weights that are kept to play ahead with: what is trained, once for the generator and once a step', () => {
    const weights = (input: SettingsInput) => estimateMemory(small, settingsOf(input), 'cpu').weights;
    for (const lora of [{}, { rank: 2 }]) {
      const copy = 4 * trainedCount(small, settingsOf({ lora }));
      expect(weights({ lora, asynchrony: { maxStaleness: 2 } }) - weights({ lora })).toBe(3 * copy);
    }
  });

  it('has half of the weights in float16', () => {
    const weights = (input: SettingsInput) => estimateMemory(small, settingsOf(input), 'webgpu').weights;
    const [lora, parameters] = [{ rank: 2 }, parameterCount(small)];
    expect(weights({ lora }) - weights({ lora, precision: 'float16' })).toBe(2 * parameters);
  });

  it('has smaller activations in float16 where a device computes in it, and as large ones on the CPU', () => {
    const activations = (device: Provider, precision: Precision) =>
      estimateMemory(small, settingsOf({ lora: { rank: 2 }, precision }), device).activations;
    expect(activations('cpu', 'float16')).toBe(activations('cpu', 'float32'));
    expect(activations('webgpu', 'float16')).toBeLessThan(0.8 * activations('webgpu', 'float32'));
  });

  it('counts what is trained twice where it lies on the device too, and a reference with it', () => {
    const of = (device: Provider, rank: number) => estimateMemory(small, settingsOf({ lora: { rank } }), device);
    for (const rank of [0, 2]) {
      const [there, here] = [of('webgpu', rank), of('cpu', rank)];
      const copy = 4 * trainedCount(small, settingsOf({ lora: { rank } }));
      expect([there.weights - here.weights, there.reference - here.reference]).toEqual([copy, copy]);
      expect(there.learning).toBe(here.learning);
    }
  });

  it('never falls where the learner may keep more or more episodes are played side by side', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8192 }),
        fc.integer({ min: 1, max: 64 }),
        (activationMemory, concurrency) => {
          const of = (input: SettingsInput) => estimateMemory(small, settingsOf(input), 'cpu').total;
          const base = of({ activationMemory, concurrency });
          expect(of({ activationMemory: activationMemory + 1, concurrency })).toBeGreaterThanOrEqual(base);
          expect(of({ activationMemory, concurrency: concurrency + 1 })).toBeGreaterThanOrEqual(base);
        },
      ),
    );
  });
});

describe('the estimate of time', () => {
  const timeOf = (input: SettingsInput = {}, heldoutEpisodes: number | null = null, besideSeconds = 0) =>
    estimateTime(small, settingsOf(input), speed, length, { heldoutEpisodes, besideSeconds });

  it('follows its formula', () => {
    const input = { tasksPerStep: 2, groupSize: 4, concurrency: 4, klCoefficient: 0 };
    const { rollouts, learning, step } = timeOf(input);
    const forward = forwardOperations(small, length);
    const weights = 4 * parameterCount(small);
    expect(rollouts).toBeCloseTo((8 * forward) / (0.4 * 50e9) + ((8 * 300) / 4) * (weights / 5e9), 9);
    expect(learning).toBeCloseTo((8 * 3 * forward) / (0.75 * 50e9), 9);
    expect(step).toBe(rollouts + learning);
  });

  it('adds the passes of a reference, and of further updates', () => {
    const forward = (64 * forwardOperations(small, length)) / (0.75 * 50e9);
    const plain = timeOf({ klCoefficient: 0 }).learning;
    expect(timeOf().learning - plain).toBeCloseTo(2 * forward, 9);
    expect(timeOf({ klCoefficient: 0, iterations: 2 }).learning - plain).toBeCloseTo(4 * forward, 9);
    expect(timeOf({ klCoefficient: 0, algorithm: { loss: 'cispo' } }).learning - plain).toBeCloseTo(forward, 9);
  });

  it('adds a pass without the head to each update where an episode is longer than what may be kept of it', () => {
    const again = (64 * forwardOperations(small, { ...length, sampled: 0 })) / (0.75 * 50e9);
    const plain = timeOf({ klCoefficient: 0 }).learning;
    expect(timeOf({ klCoefficient: 0, activationMemory: 64 }).learning - plain).toBeCloseTo(again, 9);
    const twice = timeOf({ klCoefficient: 0, iterations: 2 }).learning;
    expect(timeOf({ klCoefficient: 0, iterations: 2, activationMemory: 64 }).learning - twice).toBeCloseTo(
      2 * again,
      9,
    );
  });

  it('of a training is that of its steps, of which recorded stages play none, and of two evaluations', () => {
    const { step, training, evaluations } = timeOf({ steps: 3 });
    expect([evaluations, training]).toEqual([null, 3 * step]);
    const evaluated = timeOf({ steps: 3 }, 10);
    expect(evaluated.training).toBeCloseTo(3 * step + evaluated.evaluations!, 9);
    const stages = [
      { method: 'dpo' as const, steps: 2, recorded: true },
      { method: 'policy-gradient' as const, steps: 1 },
    ];
    const { rollouts, learning, training: staged } = timeOf({ steps: 3, stages });
    expect(staged).toBeCloseTo(rollouts + 3 * learning, 9);
  });

  it('adds what an episode takes beside computing', () => {
    expect(timeOf({}, null, 2).step - timeOf().step).toBeCloseTo(128, 9);
    expect(timeOf({}, 10, 2).evaluations! - timeOf({}, 10).evaluations!).toBeCloseTo(40, 9);
  });

  it('lets learning go on while commands and tests of the next step run, where steps are played ahead', () => {
    const ahead = (more: SettingsInput, besideSeconds: number) =>
      timeOf({ steps: 3, asynchrony: { maxStaleness: 1 }, ...more }, null, besideSeconds);
    const byTurns = ahead({}, 0);
    expect(byTurns.step).toBeCloseTo(byTurns.rollouts + byTurns.learning, 9);
    expect(byTurns.training).toBeCloseTo(3 * byTurns.step, 9);
    // 64 episodes: learning is hidden behind their tests, or these behind learning.
    const [long, short] = [ahead({}, 100), ahead({}, 0.01)];
    expect(long.step).toBeCloseTo(long.rollouts, 9);
    expect(short.step).toBeCloseTo(short.rollouts + short.learning - 0.64, 9);
    expect(long.training).toBeCloseTo(3 * long.rollouts + long.learning, 9);
    // Nothing is played for a stage before the one before is over, nor while one learns from what is recorded.
    const stages: SettingsInput['stages'] = [
      { method: 'dpo', steps: 2, recorded: true },
      { method: 'policy-gradient', steps: 1 },
      { method: 'policy-gradient', steps: 2 },
    ];
    const { rollouts, learning, training } = ahead({ steps: 5, stages }, 100);
    expect(training).toBeCloseTo(2 * learning + (rollouts + learning) + (2 * rollouts + learning), 9);
  });

  it('halves on a device that is twice as fast', () => {
    const twice = { ...speed, gflops: 100, decodedGigabytes: 10 };
    const [slow, fast] = [speed, twice].map((one) =>
      estimateTime(small, settingsOf(), one, length, { heldoutEpisodes: 5, besideSeconds: 0 }),
    );
    expect(fast.training).toBeCloseTo(slow.training / 2, 9);
  });
});
