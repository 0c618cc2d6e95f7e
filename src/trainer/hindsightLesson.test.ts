import { describe, expect, it } from 'vitest';
import { hindsightLesson } from './hindsightLesson.js';
import { imitationStep } from './imitationStep.js';
import { learnStep } from './learnStep.js';
import { stageSchema, type RejectionStage } from './run/routeSettings.js';
import { parseSettings } from './run/settings.js';
import { rollout, samplerLogprob, ScriptedLearner } from './scriptedLearner.testing.js';

const steady = () => new ScriptedLearner(() => samplerLogprob);
const settings = parseSettings({ klCoefficient: 0 });
const stage = stageSchema.parse({ method: 'rejection-sampling', steps: 1 }) as RejectionStage;
const failures = () => [[rollout(0, 2, 0), rollout(1, 3, 0)]];
/** Relabelled ones, of 2 and 3 sampled tokens. */
const lesson = () => hindsightLesson([rollout(5, 2, 1), rollout(6, 3, 1)], 0.5);

describe('what failures teach in hindsight', () => {
  it('is the mean likelihood of their tokens, times its weight, beside the policy gradient', async () => {
    const learner = steady();
    const groups = [[rollout(0, 2, 1), rollout(1, 2, 0)]];
    const { metrics, learned, advantages } = await learnStep(learner, null, groups, settings, 1, {
      hindsight: lesson(),
    });
    expect(learner.given).toHaveLength(2);
    expect(learner.steps).toHaveLength(1);
    expect(learner.slopes(1)).toEqual([new Array(2).fill(Math.fround(-0.1)), new Array(3).fill(Math.fround(-0.1))]);
    expect(metrics['hindsight/loss']).toBeCloseTo(1, 6);
    // They are no rollouts of the step.
    expect(metrics.reward).toBe(0.5);
    expect(advantages).toHaveLength(1);
    expect(learned).toHaveLength(4);
  });

  it('is learned where the groups themselves teach nothing', async () => {
    const learner = steady();
    const { metrics } = await learnStep(learner, null, failures(), settings, 1, { hindsight: lesson() });
    expect(learner.given).toHaveLength(1);
    expect(metrics['updates/made']).toBe(1);
    expect(Object.values(metrics).every(Number.isFinite)).toBe(true);
  });

  it('is imitated by rejection sampling too, though nobody solved the task', async () => {
    const learner = steady();
    const { metrics, learned } = await imitationStep(learner, failures(), stage, settings, 1, lesson());
    expect(learner.steps).toHaveLength(1);
    expect(metrics).toMatchObject({ 'imitation/accepted': 0, reward: 0 });
    expect(learned.map(({ advantages }) => advantages.reduce((sum, one) => sum + one, 0))).toEqual([2, 3]);
  });

  it('is nothing where nothing was relabelled: the weights stay as they are', async () => {
    const learner = steady();
    await learnStep(learner, null, failures(), settings, 1, { hindsight: hindsightLesson([], 1) });
    await imitationStep(learner, failures(), stage, settings, 1, hindsightLesson([], 1));
    expect(learner.steps).toEqual([]);
  });
});
