import { say } from '../../trajectory/said.js';
import { temperatureAt, turnsAt } from '../data/schedules.js';
import type { RunConfig } from '../run/runRecord.js';
import { median, percent, rounded, type Detector, type StepEvent } from './detector.js';
import { nowhere, type Finding } from './finding.js';

/** A finding without its evidence, which is the step at which the rule first held. */
type Verdict = Omit<Finding, 'evidence'>;

/** What a verdict is made of: the steps that the stage began with, and the newest. */
const [firstSteps, newestSteps] = [8, 64];

/** Reads only the steps' metrics; the verdict is asked for after each step, and the first stays. */
class MetricDetector implements Detector {
  /** At most so many, so that a step of a long run costs no more than one of a short run. */
  private steps: StepEvent[] = [];
  private found: Finding | null = null;

  constructor(private readonly judge: (steps: readonly StepEvent[]) => Verdict | null) {}

  onStep(event: StepEvent): void {
    // Another stage has other metrics: it is no news that its gradients are larger, or its answers longer.
    if ((this.steps.at(-1)?.method ?? event.method) !== event.method) this.steps = [];
    this.steps.push(event);
    if (this.steps.length > firstSteps + newestSteps) this.steps.splice(firstSteps, 1);
    if (this.found !== null) return;
    const verdict = this.judge(this.steps);
    if (verdict) this.found = { ...verdict, evidence: { ...nowhere, step: event.step } };
  }
  findings(): Finding[] {
    return this.found === null ? [] : [this.found];
  }
}

const detector = (judge: (steps: readonly StepEvent[], config: RunConfig) => Verdict | null) => (config: RunConfig) =>
  new MetricDetector((steps) => judge(steps, config));
const series = (steps: readonly StepEvent[], name: string) =>
  steps.flatMap(({ metrics }) => (metrics[name] === undefined ? [] : [metrics[name]]));
/** The last `count` values; nothing where there are fewer. */
const lastOf = (values: readonly number[], count: number) => (values.length < count ? [] : values.slice(-count));
const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Sampler and learner compute the same model: they differ by rounding, or something is wrong with one of them. */
export const samplerMismatch = detector((steps) => {
  const mean = series(steps, 'sampling/sampling_logp_difference/mean').at(-1) ?? 0;
  const most = series(steps, 'sampling/sampling_logp_difference/max').at(-1) ?? 0;
  if (mean <= 0.02 && most <= 1) return null;
  return {
    mode: 'sampler-mismatch',
    severity: mean > 0.1 ? 'critical' : 'warning',
    ...say`The log-probabilities of sampler and learner differ by ${rounded(mean)} on average, at most ${rounded(most)}.`,
    causes: [
      'The generator computes with older weights or in lower precision.',
      'The record was sampled by another checkpoint.',
    ],
    remedy: 'Set `algorithm.importanceCorrection`, or run with `--device cpu` to compare.',
  };
});

/** Updates that were left out for gradients that are no numbers, or norms far above the usual. */
export const unstableGradients = detector((steps) => {
  const norms = series(steps, 'grad_norm').filter((norm) => norm > 0);
  const last = steps[steps.length - 1].metrics;
  const recent = norms.at(-1) ?? 0;
  const isSpike = norms.length > 5 && recent > 20 * median(norms.slice(0, -1));
  // Records from before skipped updates were counted: no update, though some rewards differed.
  const isUnexplained = last['updates/made'] === 0 && last.frac_reward_zero_std < 1 && last.grad_norm === 0;
  const isSkipped = (last['updates/skipped'] ?? 0) > 0 || isUnexplained;
  if (!isSpike && !isSkipped) return null;
  return {
    mode: 'unstable-gradients',
    severity: isSkipped ? 'critical' : 'warning',
    ...(isSkipped
      ? say`The gradients are not finite: the updates of this step were left out.`
      : say`The gradient norm of ${rounded(recent)} is more than 20 times the median of ${rounded(median(norms.slice(0, -1)))}.`),
    causes: ['The learning rate is too high.', 'An importance ratio exploded.', 'The checkpoint holds broken weights.'],
    remedy: 'Lower `learningRate` or `maxGradientNorm`; set `algorithm.dualClip`.',
  };
});

/** Far from the reference policy (k3 in nats a token; below 0.1 is usual). */
export const klExplosion = detector((steps) => {
  const recent = lastOf(series(steps, 'kl'), 2);
  if (recent.length === 0 || Math.min(...recent) <= 1) return null;
  return {
    mode: 'kl-explosion',
    severity: 'critical',
    ...say`The KL divergence from the reference is ${rounded(recent[1])} nats a token.`,
    causes: ['The learning rate is too high.', 'The policy left what it had learned before.'],
    remedy: 'Lower `learningRate`, raise `klCoefficient`, and go back to an earlier checkpoint.',
  };
});

/** Updates that change nothing: neither the KL nor the ratio moves. */
export const noMovement = detector((steps, { settings }) => {
  const updated = steps.filter(({ metrics }) => (metrics['updates/made'] ?? 0) > 0);
  if (updated.length < 10 || settings.klCoefficient === 0) return null;
  const kl = lastOf(series(updated, 'kl'), 5);
  if (kl.length === 0 || Math.max(...kl.map(Math.abs)) > 1e-7) return null;
  return {
    mode: 'no-movement',
    severity: 'warning',
    ...say`After ${updated.length} steps with updates at a learning rate of ${settings.learningRate} the policy is still the reference (KL ${rounded(kl[kl.length - 1])}).`,
    causes: ['The learning rate is 0 or too low.'],
    remedy: 'Raise `learningRate`.',
  };
});

/** Entropies as they would be at the run's first temperature, as far as the cube of it tells: a schedule is no illness. */
const entropiesOf = (steps: readonly StepEvent[], { settings }: RunConfig) =>
  steps.flatMap(({ step, metrics }) =>
    metrics.entropy === undefined
      ? []
      : [metrics.entropy * (settings.temperature / temperatureAt(settings, step)) ** 3],
  );

export const entropyCollapse = detector((steps, config) => {
  const entropies = entropiesOf(steps, config);
  const recent = lastOf(entropies, 3);
  if (entropies.length < 6 || entropies[0] === 0) return null;
  const [first, now] = [meanOf(entropies.slice(0, 3)), meanOf(recent)];
  if (now > 0.15 * first || first < 1e-3) return null;
  return {
    mode: 'entropy-collapse',
    severity: 'warning',
    ...say`The entropy fell from ${rounded(first)} to ${rounded(now)} nats a token: the rollouts of a group become the same.`,
    causes: ['The policy settled on one answer, right or wrong.'],
    remedy: 'Raise `temperature`, `clipHigh` (0.28) or `algorithm.entropyCoefficient`; lower `learningRate`.',
  };
});

export const entropyExplosion = detector((steps, config) => {
  const entropies = entropiesOf(steps, config);
  const recent = lastOf(entropies, 3);
  if (entropies.length < 6 || entropies[0] === 0) return null;
  const [first, now] = [meanOf(entropies.slice(0, 3)), meanOf(recent)];
  if (now < Math.max(3 * first, first + 0.5)) return null;
  return {
    mode: 'entropy-explosion',
    severity: 'warning',
    ...say`The entropy rose from ${rounded(first)} to ${rounded(now)} nats a token: the policy turns to noise.`,
    causes: ['The learning rate is too high.', 'Negative advantages push probability away from all that was sampled.'],
    remedy: 'Lower `learningRate` or `algorithm.entropyCoefficient`; raise `klCoefficient`.',
  };
});

/** Longer and longer answers that are not worth more. */
export const lengthExplosion = detector((steps, { settings }) => {
  // Where the horizon grows, so may the answers.
  const lengths = steps.flatMap(({ step, metrics }) => {
    const length = metrics['completions/mean_length'];
    return length === undefined ? [] : [(length * settings.maxTurns) / turnsAt(settings, step)];
  });
  const rewards = series(steps, 'reward');
  if (lengths.length < 6) return null;
  const [first, now] = [meanOf(lengths.slice(0, 3)), meanOf(lengths.slice(-3))];
  const gain = meanOf(rewards.slice(-3)) - meanOf(rewards.slice(0, 3));
  if (first === 0 || now < 2 * first || gain > 0.05) return null;
  return {
    mode: 'length-explosion',
    severity: 'warning',
    ...say`Rollouts grew from ${Math.round(first)} to ${Math.round(now)} sampled tokens, while the reward changed by ${rounded(gain)}.`,
    causes: ['A loss that averages over each answer favours long wrong ones.', 'The policy repeats itself.'],
    remedy: 'Set `algorithm.loss` to `dr-grpo` or `dapo`; lower `maxTokensPerTurn` or `maxTurns`.',
  };
});

/** The way earns more and more, and its end does not: what process rewards invite to. */
export const rewardHacking = detector((steps, { settings: { shaping, judge } }) => {
  const growth = (name: string) => {
    const values = series(steps, name);
    return values.length < 8 ? 0 : meanOf(values.slice(-3)) - meanOf(values.slice(0, 3));
  };
  const way =
    shaping.milestones * growth('rewards/milestones/mean') +
    shaping.toolUse * growth('rewards/toolUse/mean') +
    judge.weight * growth('rewards/judge/mean');
  const outcome = growth('rewards/tests/mean');
  if (way < 0.1 || outcome > 0) return null;
  return {
    mode: 'reward-hacking',
    severity: 'warning',
    ...say`What rollouts earn on the way rose by ${rounded(way)}, while the reward of the tests changed by ${rounded(outcome)}.`,
    causes: ['The policy is paid for its way, whatever comes of it.'],
    remedy: 'Lower `shaping.milestones`, `shaping.toolUse` or `judge.weight`, or raise `reward.tests`.',
  };
});

/** Groups whose rollouts all have the same reward teach nothing. */
export const equalRewards = detector((steps, { settings }) => {
  const { dynamicSampling, advantage } = settings.algorithm;
  // Silent groups were made up for, or turns are rewarded too: then equal outcomes alone are no loss.
  const isMadeUpFor =
    dynamicSampling > 0 ||
    advantage === 'gigpo' ||
    advantage === 'igpo' ||
    advantage === 'subgoals' ||
    advantage === 'scored-turns';
  if (isMadeUpFor && lastOf(series(steps, 'updates/made'), 3).some((updates) => updates > 0)) return null;
  const recent = lastOf(series(steps, 'frac_reward_zero_std'), 3);
  if (recent.length === 0 || Math.min(...recent) < 0.75) return null;
  const rewards = lastOf(series(steps, 'reward'), 3);
  return {
    mode: 'equal-rewards',
    severity: 'warning',
    ...say`In the last 3 steps at least ${percent(Math.min(...recent))} of the groups had equal rewards (mean ${rounded(meanOf(rewards))}) and taught nothing.`,
    causes: ['The tasks are all too hard or all solved.', 'The rollouts of a group are the same.'],
    remedy: 'Raise `groupSize` or `temperature`; build easier or harder tasks; raise `reward.similarity`.',
  };
});

/** A critic whose expectations are further from what came than their mean would be: what it credits turns with is noise. */
export const blindCritic = detector((steps) => {
  const explained = series(steps, 'critic/vf_explained_var');
  const recent = lastOf(explained, 5);
  if (explained.length < 10 || Math.max(...recent) >= 0) return null;
  return {
    mode: 'blind-critic',
    severity: 'warning',
    ...say`After ${explained.length} updates the critic expects what came worse than the mean of it would (explained variance ${rounded(meanOf(recent))}).`,
    causes: ['The critic learns too slowly, or too fast.', 'The rewards hardly follow from what the policy sees.'],
    remedy:
      'Change `algorithm.valueLearningRate` or `algorithm.valueCoefficient`; lower `algorithm.stepWeight`, or raise `algorithm.lambda`.',
  };
});

export const infrastructureFailures = detector((steps) => {
  const { metrics, groups } = steps[steps.length - 1];
  const rollouts = groups.reduce((sum, { trajectoryIds }) => sum + trajectoryIds.length, 0);
  const failures = metrics['rollouts/infrastructure_failures'] ?? 0;
  if (rollouts === 0 || failures / rollouts < 0.2) return null;
  return {
    mode: 'infrastructure-failures',
    severity: failures === rollouts ? 'critical' : 'warning',
    ...say`${failures} of ${rollouts} rollouts of the step failed through the machine, not the policy.`,
    causes: ['The disk is full.', 'The sandbox fails.', 'The machine is too busy for the time limits.'],
    remedy: 'Open one of them to see its error; see the run’s log.txt.',
  };
});
