import type { Trajectory } from '../trajectory/trajectory.js';
import { groupAdvantages } from './algorithm/advantages.js';
import { acceptedRollouts } from './algorithm/rejectionSampling.js';
import { meanOf, rolloutMetrics } from './algorithm/stepMetrics.js';
import { supervisedCoefficients } from './algorithm/supervised.js';
import { unlikelihoodCoefficients } from './algorithm/unlikelihood.js';
import { sampledTokens } from './algorithm/policyGradient.js';
import { optimizerOptions, updateCounts } from './learnerCalls.js';
import type { LearnedStep } from './learnStep.js';
import { learnedAlong } from './learnedAlong.js';
import { accumulateHindsight, noHindsight, toldOfHindsight } from './hindsightLesson.js';
import type { Learner, SequenceScores, StepResult } from './model/policy.js';
import { checkActionMask } from './rollout/actionMask.js';
import { trainingSequence } from './rollout/nodes.js';
import type { RejectionStage } from './run/routeSettings.js';
import type { Settings } from './run/settings.js';

/**
 * One step of rejection sampling: the solved rollouts of each task, the best `keep` of them, are imitated, and where the
 * stage has a negative weight the policy is pushed away from the failures of those same tasks (a task that nobody solved
 * teaches nothing). One update an epoch; none where nothing was solved, and then the weights stay bit for bit.
 * @param hindsight what is imitated beside them
 */
export async function imitationStep(
  learner: Learner,
  groups: readonly (readonly Trajectory[])[],
  stage: RejectionStage,
  settings: Settings,
  step: number,
  hindsight = noHindsight,
): Promise<LearnedStep> {
  const problems = groups.flat().flatMap(checkActionMask);
  if (problems.length > 0) throw new Error(`internal: action mask: ${problems[0]}`);
  const rewards = groups.map((group) => group.map(({ grade }) => grade?.reward ?? null));
  const signs = groups.map((group) => signsOf(group, stage));
  const lessons = groups.flatMap((group, index) =>
    group.flatMap((trajectory, sample) => {
      const sequence = trainingSequence(trajectory);
      const sign = signs[index][sample];
      return sign === 0 || sequence.tokenIds.length === 0 ? [] : [{ trajectory, sequence, sign }];
    }),
  );
  const tokens = lessons.reduce((sum, { sequence }) => sum + sampledTokens(sequence.actionMask), 0);
  const updates: (StepResult & { readonly loss: number })[] = [];
  let first: { logprobs: Float32Array; coefficients: Float32Array }[] = [];
  let imitated: readonly SequenceScores[] = [];
  const epochs = lessons.length + hindsight.trajectories.length === 0 ? 0 : stage.epochs;
  for (let epoch = 0; epoch < epochs; epoch++) {
    const sequences = lessons.map(({ sequence }) => sequence);
    const hasNegatives = lessons.some(({ sign }) => sign < 0);
    const before = hasNegatives ? await learner.score(sequences, 1) : null;
    const coefficients = lessons.map(({ sequence: { actionMask }, sign }, index) =>
      sign > 0
        ? supervisedCoefficients(actionMask, tokens)
        : unlikelihoodCoefficients({ actionMask, logprobs: before![index].logprobs }, tokens, stage.negativeWeight)
            .coefficients,
    );
    const scores = await learner.accumulate(
      sequences,
      coefficients.map((logprobs) => ({ logprobs, entropies: null })),
      1,
    );
    const ofHindsight = await accumulateHindsight(learner, hindsight);
    const positives = lessons.flatMap(({ sign }, index) =>
      sign > 0 ? [...scores[index].logprobs].filter((value) => !Number.isNaN(value)) : [],
    );
    if (epoch === 0) {
      first = scores.map(({ logprobs }, index) => ({ logprobs, coefficients: coefficients[index] }));
      imitated = ofHindsight;
    }
    const learningRate = stage.learningRate ?? settings.learningRate;
    updates.push({
      loss: -meanOf(positives),
      ...(await learner.step(optimizerOptions({ ...settings, learningRate }))),
    });
  }
  const told = toldOfHindsight(hindsight, imitated, step);
  return {
    metrics: {
      ...rolloutMetrics(
        groups.flat(),
        rewards.map((group) => groupAdvantages(group)),
      ),
      'imitation/accepted': lessons.filter(({ sign }) => sign > 0).length,
      'imitation/negatives': lessons.filter(({ sign }) => sign < 0).length,
      ...(updates.length > 0 && {
        loss: updates[0].loss,
        grad_norm: meanOf(updates.flatMap(({ gradientNorm, skipped }) => (skipped ? [] : [gradientNorm]))),
      }),
      ...told.metrics,
      learning_rate: stage.learningRate ?? settings.learningRate,
      ...updateCounts(updates),
    },
    advantages: signs,
    learned: [
      ...lessons.map(({ trajectory, sign }, index) => learnedAlong(trajectory, step, sign, first[index])),
      ...told.learned,
    ],
  };
}

/** 1 for what is imitated, -1 for what is pushed away from, 0 for the rest: [group] */
function signsOf(group: readonly Trajectory[], { keep, negativeWeight }: RejectionStage): number[] {
  const solved = group.map(({ grade }) => (grade?.resolved ? grade.reward : null));
  const accepted = new Set(acceptedRollouts(solved, { least: -Infinity, most: keep }));
  return group.map(({ grade }, index) => {
    if (accepted.has(index)) return 1;
    return negativeWeight > 0 && accepted.size > 0 && grade !== null && !grade.resolved ? -1 : 0;
  });
}
