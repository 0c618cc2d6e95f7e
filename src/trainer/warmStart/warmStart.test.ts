import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { AdamWOptions, Learner, SequenceCoefficients, TrainingSequence } from '../model/policy.js';
import { oneTurnRollout } from '../oneTurnRollout.testing.js';
import { NodePath } from '../rollout/nodes.js';
import { parseSettings } from '../run/settings.js';
import { failures, successes, warmStart, type WarmStartUpdate } from './warmStart.js';

/** A demonstration whose first token tells which one it is; nobody sampled it. */
function demonstration(name: number, tokens: number, reward = 1): Trajectory {
  const path = new NodePath();
  path.addGiven({ role: 'user', content: 'mend it' }, Int32Array.of(name, 7));
  const unknown = new Float32Array(tokens).fill(NaN);
  path.addSampled(
    { role: 'assistant', content: 'so', toolCalls: [], raw: 'so' },
    { tokenIds: Int32Array.from(unknown, (_, t) => t), logprobs: unknown, entropies: unknown, finishReason: 'stop' },
  );
  return { ...oneTurnRollout(name, path, reward), kind: 'demonstration' };
}

/** Every token has the log-probability -2; what is learned from, and how, is kept. */
function recordingLearner(gradientNorm = 1) {
  const batches: { sequences: readonly TrainingSequence[]; coefficients: readonly SequenceCoefficients[] }[] = [];
  const steps: AdamWOptions[] = [];
  const scoresOf = (sequences: readonly TrainingSequence[]) =>
    sequences.map(({ actionMask }) => {
      const logprobs = Float32Array.from(actionMask, (bit) => (bit === 1 ? -2 : NaN));
      return { logprobs, entropies: logprobs };
    });
  const learner = {
    score: (sequences: readonly TrainingSequence[]) => Promise.resolve(scoresOf(sequences)),
    accumulate(sequences: readonly TrainingSequence[], coefficients: readonly SequenceCoefficients[]) {
      batches.push({ sequences, coefficients });
      return Promise.resolve(scoresOf(sequences));
    },
    step(options: AdamWOptions) {
      steps.push(options);
      return Promise.resolve({ gradientNorm, skipped: !Number.isFinite(gradientNorm) });
    },
  } as Partial<Learner> as Learner;
  return { learner, batches, steps };
}

const settings = parseSettings({
  warmStartNegativeWeight: 0.5,
  warmStartEpochs: 5,
  warmStartLearningRate: 1e-3,
  seed: 3,
});

async function play(
  learner: Learner,
  demonstrations: readonly Trajectory[],
  negatives: readonly Trajectory[] = [],
  done = 0,
): Promise<WarmStartUpdate[]> {
  const updates: WarmStartUpdate[] = [];
  for await (const update of warmStart(learner, demonstrations, settings, negatives, done)) updates.push(update);
  return updates;
}

describe('the warm start', () => {
  const six = Array.from({ length: 6 }, (_, name) => demonstration(name, 3 + name));

  it('goes through every demonstration once a pass, in another order each time', async () => {
    const { learner, batches } = recordingLearner();
    const updates = await play(learner, six);
    expect(updates.map(({ update, updates: all }) => [update, all])).toEqual(
      Array.from({ length: 10 }, (_, i) => [i + 1, 10]),
    );
    const names = batches.map(({ sequences }) => sequences.map(({ tokenIds }) => tokenIds[0]));
    const passes = Array.from({ length: 5 }, (_, i) => names.slice(2 * i, 2 * i + 2).flat());
    for (const pass of passes) expect([...pass].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(passes.map(String)).size).toBeGreaterThan(1);
    const again = recordingLearner();
    await play(again.learner, six);
    expect(again.batches).toEqual(batches);
  });

  it("learns the expert's tokens alone, each of a batch as much as any other", async () => {
    const { learner, batches } = recordingLearner();
    const [{ metrics }] = await play(learner, six);
    expect(metrics.loss).toBeCloseTo(2, 6);
    for (const { sequences, coefficients } of batches) {
      const tokens = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length - 2, 0);
      sequences.forEach(({ actionMask }, index) => {
        expect([...coefficients[index].logprobs]).toEqual(
          [...actionMask].map((bit) => (bit ? Math.fround(-1 / tokens) : 0)),
        );
      });
    }
  });

  it('pushes away from negative examples, which are spread over the batches and count in no loss', async () => {
    const { learner, batches } = recordingLearner();
    const negatives = [7, 8, 9].map((name) => demonstration(name, 2, 0));
    const updates = await play(learner, six, negatives);
    expect(updates).toHaveLength(10);
    expect(updates[0].metrics.loss).toBeCloseTo(2, 6);
    for (const { sequences, coefficients } of batches) {
      const tokens = sequences.reduce((sum, { tokenIds }) => sum + tokenIds.length - 2, 0);
      const positives = sequences.filter(({ tokenIds }) => tokenIds[0] < 6);
      expect(positives.length).toBeGreaterThan(0);
      expect(positives.length).toBeLessThan(sequences.length);
      sequences.forEach(({ tokenIds }, index) => {
        // p / (1 - p) of unlikelihood, at a log-probability of -2.
        const wanted = tokenIds[0] < 6 ? -1 / tokens : (0.5 / tokens) * (1 / Math.expm1(2));
        expect(coefficients[index].logprobs[2]).toBeCloseTo(wanted, 7);
      });
    }
  });

  it('goes on behind the updates that were made before, with the same batches and rates', async () => {
    const [whole, rest] = [recordingLearner(), recordingLearner()];
    await play(whole.learner, six);
    const updates = await play(rest.learner, six, [], 3);
    expect(updates[0].update).toBe(4);
    expect(rest.batches).toEqual(whole.batches.slice(3));
    expect(rest.steps).toEqual(whole.steps.slice(3));
  });

  it('takes as negative examples only what was graded and failed', () => {
    const failed = demonstration(1, 2, 0);
    expect(failures([failed, demonstration(2, 2, 1), { ...failed, grade: null }])).toEqual([failed]);
  });

  it('lets the learning rate rise, and then fall to a tenth', async () => {
    const { learner, steps } = recordingLearner();
    await play(
      learner,
      Array.from({ length: 16 }, (_, name) => demonstration(name, 3)),
    );
    const rates = steps.map(({ learningRate }) => learningRate);
    expect(rates).toHaveLength(20);
    expect(rates.slice(0, 3)).toEqual([0.5e-3, 1e-3, 1e-3]);
    expect(rates.slice(2)).toEqual([...rates.slice(2)].sort((a, b) => b - a));
    expect(rates.at(-1)).toBeGreaterThan(1e-4);
    expect(rates.at(-1)).toBeLessThan(2e-4);
  });

  it('takes only what succeeded', () => {
    expect(successes([six[0], demonstration(6, 3, 0.5)])).toEqual([six[0]]);
  });

  it('learns nothing where there is nothing to learn from', async () => {
    const { learner, batches } = recordingLearner();
    await play(learner, []);
    expect(batches).toEqual([]);
  });

  it('says in one line where it diverges', async () => {
    await expect(play(recordingLearner(Infinity).learner, six)).rejects.toMatchObject({ kind: 'failed' });
  });
});
