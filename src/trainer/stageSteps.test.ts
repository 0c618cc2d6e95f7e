import { describe, expect, it } from 'vitest';
import type { Trajectory } from '../trajectory/trajectory.js';
import { dpoCoefficients } from './algorithm/dpo.js';
import { ipoCoefficients } from './algorithm/ipo.js';
import { ktoCoefficients, ktoReferencePoint } from './algorithm/kto.js';
import { orpoCoefficients } from './algorithm/orpo.js';
import { simpoCoefficients } from './algorithm/simpo.js';
import { unlikelihoodCoefficients } from './algorithm/unlikelihood.js';
import { imitationStep } from './imitationStep.js';
import { preferenceStep } from './preferenceStep.js';
import { stageSchema, type PreferenceStage, type RejectionStage } from './run/routeSettings.js';
import { parseSettings } from './run/settings.js';
import { rollout, ScriptedLearner } from './scriptedLearner.testing.js';

const settings = parseSettings({ learningRate: 0.5 });
const learner = () => new ScriptedLearner((name, t) => -1 - (name + t) / 8);
const reference = () => new ScriptedLearner((name, t) => -1 - (name - t) / 4);
const close = (found: readonly number[], wanted: ArrayLike<number>) => {
  expect(found).toHaveLength(wanted.length);
  found.forEach((value, t) => expect(value).toBeCloseTo(wanted[t], 6));
};

describe('a step of rejection sampling', () => {
  const stage = (more: object = {}) =>
    stageSchema.parse({ method: 'rejection-sampling', steps: 1, ...more }) as RejectionStage;
  // Of the first task one rollout is solved, of the second two, of the third none.
  const groups = () => [
    [rollout(0, 2, 1), rollout(1, 1, 0.2)],
    [rollout(2, 1, 1), rollout(3, 2, 1), rollout(4, 1, null)],
    [rollout(5, 3, 0.9), rollout(6, 1, 0)],
  ];

  it('imitates the solved rollouts alone, token for token', async () => {
    const one = learner();
    const { metrics, advantages, learned } = await imitationStep(one, groups(), stage(), settings, 7);
    expect(one.slopes()).toEqual([[-0.2, -0.2], [-0.2], [-0.2, -0.2]].map((row) => row.map(Math.fround)));
    expect(advantages).toEqual([
      [1, 0],
      [1, 1, 0],
      [0, 0],
    ]);
    expect(metrics).toMatchObject({ 'imitation/accepted': 3, 'updates/made': 1, learning_rate: 0.5 });
    expect(metrics.loss).toBeCloseTo(1 + (0 + 1 + 2 + 3 + 4) / 5 / 8, 6);
    expect(learned.map(({ trajectoryId, step }) => `${trajectoryId} ${step}`)).toContain('step-000001/task/0 7');
    expect(learned[0].advantages).toEqual(Float32Array.of(0, 0, 1, 1));
  });

  it('keeps the best of each task, in as many updates as epochs, at its own learning rate', async () => {
    const one = learner();
    await imitationStep(one, groups(), stage({ keep: 1, epochs: 3, learningRate: 0.25 }), settings, 1);
    expect(one.given.map((update) => update.length)).toEqual([2, 2, 2]);
    expect(one.steps.map(({ learningRate }) => learningRate)).toEqual([0.25, 0.25, 0.25]);
  });

  it('pushes away from the failures beside them, never from those of a task that nobody solved', async () => {
    const one = learner();
    const { advantages } = await imitationStep(one, groups(), stage({ negativeWeight: 0.5 }), settings, 1);
    expect(advantages).toEqual([
      [1, -1],
      [1, 1, 0],
      [0, 0],
    ]);
    const failure = { actionMask: Uint8Array.of(1), logprobs: Float32Array.of(-1 - 1 / 8) };
    close(one.slopes()[1], unlikelihoodCoefficients(failure, 6, 0.5).coefficients);
  });

  it('leaves the weights alone where nothing is solved', async () => {
    const one = learner();
    const { metrics, learned } = await imitationStep(one, groups().slice(2), stage({ negativeWeight: 1 }), settings, 1);
    expect([one.given, one.steps, learned]).toEqual([[], [], []]);
    expect(metrics).toMatchObject({ 'updates/made': 0, 'imitation/accepted': 0 });
  });
});

describe('a step of preference learning', () => {
  const stage = (method: PreferenceStage['method'], more: object = {}) =>
    stageSchema.parse({ method, steps: 1, ...more }) as PreferenceStage;
  const groups = () => [[rollout(0, 2, 1), rollout(1, 2, 0)]];
  const sequence = (name: number) => ({
    actionMask: Uint8Array.of(1, 1),
    logprobs: Float32Array.from([0, 1], (t) => -1 - (name + t) / 8),
    referenceLogprobs: Float32Array.from([0, 1], (t) => -1 - (name - t) / 4),
  });
  const pair = { chosen: sequence(0), rejected: sequence(1) };
  const ktoOptions = (referencePoint: number, trajectories: number) => ({
    ...{ beta: 0.3, desirableWeight: 1, undesirableWeight: 1 },
    ...{ referencePoint, trajectories },
  });

  it.each([
    ['dpo', dpoCoefficients(pair, { beta: 0.1, pairs: 1 })],
    ['ipo', ipoCoefficients(pair, { beta: 0.1, pairs: 1 })],
    ['orpo', orpoCoefficients(pair, { lambda: 0.1, pairs: 1 })],
    ['simpo', simpoCoefficients(pair, { beta: 2, gamma: 0.5, pairs: 1 })],
  ] as const)('gives the learner the coefficients of %s', async (method, wanted) => {
    const one = learner();
    const { metrics, advantages } = await preferenceStep(one, reference(), groups(), stage(method), settings, 1);
    const [chosen, rejected] = one.slopes();
    close(chosen, wanted.chosen);
    close(rejected, wanted.rejected);
    expect(metrics.loss).toBeCloseTo(wanted.loss, 6);
    expect(metrics['rewards/margins']).toBeCloseTo(wanted.margin, 6);
    expect(metrics).toMatchObject({ 'preference/pairs': 1, 'updates/made': 1, learning_rate: 0.5 });
    expect(advantages).toEqual([[1, -1]]);
  });

  it('gives it those of KTO for good and bad ones, with the step as the reference point', async () => {
    const one = learner();
    await preferenceStep(one, reference(), groups(), stage('kto', { beta: 0.3 }), settings, 1);
    const options = ktoOptions(ktoReferencePoint([pair.chosen, pair.rejected]), 2);
    close(one.slopes()[0], ktoCoefficients(pair.chosen, true, options).coefficients);
    close(one.slopes()[1], ktoCoefficients(pair.rejected, false, options).coefficients);
  });

  it('takes that point from all that the step played, also what came into no pair', async () => {
    const one = learner();
    const played = [
      [rollout(0, 2, 1), rollout(1, 2, 0), rollout(9, 2, 0.5)],
      [rollout(8, 2, 1), rollout(7, 2, 1), rollout(6, 2, null)],
    ];
    await preferenceStep(one, reference(), played, stage('kto', { beta: 0.3, pairsPerTask: 1 }), settings, 1);
    const referencePoint = ktoReferencePoint([0, 1, 9, 8, 7].map(sequence));
    expect(referencePoint).toBeGreaterThan(ktoReferencePoint([pair.chosen, pair.rejected]));
    expect(one.slopes()).toHaveLength(2);
    close(one.slopes()[0], ktoCoefficients(pair.chosen, true, ktoOptions(referencePoint, 2)).coefficients);
  });

  it('takes it of recorded ones from their answers behind the prompts of other tasks', async () => {
    const one = learner();
    const recorded = [
      [rollout(0, 2, 1), rollout(1, 2, 0)],
      [rollout(6, 2, 1), rollout(7, 1, 0)].map((each) => ({ ...each, taskId: 'other' })),
    ];
    await preferenceStep(one, reference(), recorded, stage('kto', { beta: 0.3, recorded: true }), settings, 1);
    // A scripted rollout is known by its prompt; the answers are two tokens, that of 7 is one.
    const logratio = (prompt: number, tokens: number) =>
      [0, 1].slice(0, tokens).reduce((sum, t) => sum - (prompt + t) / 8 + (prompt - t) / 4, 0);
    const mismatched = (logratio(6, 2) + logratio(7, 2) + logratio(0, 2) + logratio(1, 1)) / 4;
    const matched = (logratio(0, 2) + logratio(1, 2) + logratio(6, 2) + logratio(7, 1)) / 4;
    expect(mismatched - matched).toBeGreaterThan(0.1);
    close(one.slopes()[0], ktoCoefficients(sequence(0), true, ktoOptions(mismatched, 4)).coefficients);
    close(one.slopes()[1], ktoCoefficients(sequence(1), false, ktoOptions(mismatched, 4)).coefficients);
  });

  it('holds recorded ones of one task alone against 0, and not against their own reward', async () => {
    const one = learner();
    const recorded = [[rollout(6, 2, 1), rollout(7, 2, 0)]];
    await preferenceStep(one, reference(), recorded, stage('kto', { beta: 0.3, recorded: true }), settings, 1);
    expect(ktoReferencePoint([6, 7].map(sequence))).toBeGreaterThan(0);
    close(one.slopes()[0], ktoCoefficients(sequence(6), true, ktoOptions(0, 2)).coefficients);
  });

  it.each(['dpo', 'ipo', 'kto'] as const)(
    'holds %s against the reference policy, whatever the sampler that recorded it had said',
    async (method) => {
      const recorded = [
        [rollout(0, 2, 1), rollout(1, 2, 0)],
        [rollout(6, 2, 1), rollout(7, 2, 0)].map((each) => ({ ...each, taskId: 'other' })),
      ];
      const byAnother = recorded.map((group) =>
        group.map((each) => ({
          ...each,
          policyStep: 99,
          nodes: each.nodes.map((node) => ({ ...node, logprobs: node.logprobs.map((logprob) => 5 * logprob - 3) })),
        })),
      );
      const slopesOf = async (some: Trajectory[][], against: ScriptedLearner) => {
        const one = learner();
        const { learned } = await preferenceStep(one, against, some, stage(method, { recorded: true }), settings, 1);
        for (const { trajectoryId, referenceLogprobs } of learned) {
          const name = Number(trajectoryId.split('/').at(-1));
          expect(referenceLogprobs.subarray(2)).toEqual(sequence(name).referenceLogprobs);
        }
        return one.slopes();
      };
      const slopes = await slopesOf(recorded, reference());
      expect(await slopesOf(byAnother, reference())).toEqual(slopes);
      const moved = learner();
      await preferenceStep(moved, learner(), recorded, stage(method, { recorded: true }), settings, 1);
      expect(moved.slopes()).not.toEqual(slopes);
    },
  );

  it('adds up what several pairs say of one rollout, the most different pairs first', async () => {
    const one = learner();
    const three = [[rollout(0, 1, 1), rollout(1, 1, 0.5), rollout(2, 1, 0)]];
    const { metrics, advantages } = await preferenceStep(one, null, three, stage('simpo'), settings, 1);
    expect(metrics['preference/pairs']).toBe(3);
    expect(advantages).toEqual([[1, 1, -1]]);
    const few = learner();
    const { learned } = await preferenceStep(few, null, three, stage('simpo', { pairsPerTask: 1 }), settings, 1);
    expect(learned.map(({ trajectoryId }) => trajectoryId)).toEqual(['step-000001/task/0', 'step-000001/task/2']);
  });

  it('has no pair, and so no gradient, in groups of equal rewards or of failed machines', async () => {
    const one = learner();
    const silent: Trajectory[][] = [
      [rollout(0, 1, 0.3), rollout(1, 2, 0.3)],
      [rollout(2, 1, 1), rollout(3, 1, null)],
    ];
    const { metrics, learned } = await preferenceStep(one, reference(), silent, stage('dpo'), settings, 1);
    expect([one.given, one.steps, learned]).toEqual([[], [], []]);
    expect(metrics).toMatchObject({ 'updates/made': 0, 'preference/pairs': 0 });
  });

  it('tells rewards of what it plays, and none of what was recorded before', async () => {
    const metricsOf = async (recorded: boolean) =>
      (await preferenceStep(learner(), null, groups(), stage('orpo', { recorded }), settings, 1)).metrics;
    expect(await metricsOf(false)).toMatchObject({ reward: 0.5, 'updates/made': 1 });
    expect(await metricsOf(true)).toMatchObject({ 'updates/made': 1 });
    expect(Object.keys(await metricsOf(true))).not.toContain('reward');
  });

  it('moves on in a second epoch against the same reference', async () => {
    const one = new ScriptedLearner((name, _, updates) => -1 + (name === 0 ? updates : -updates));
    await preferenceStep(one, reference(), groups(), stage('dpo', { epochs: 2 }), settings, 1);
    expect(Math.abs(one.slopes(1)[0][0])).toBeLessThan(Math.abs(one.slopes(0)[0][0]));
  });
});
