import type { Advantage } from './algorithm/advantageEstimators.js';
import { criticEstimate, type CriticEstimate, type ValuedRollout } from './algorithm/criticEstimators.js';
import { scoredTurns } from './algorithm/scoredTurns.js';
import { meanOf } from './algorithm/stepMetrics.js';
import { valueCoefficients } from './algorithm/valueLoss.js';
import { whiten } from './algorithm/whiten.js';
import type { Rollout, Scores } from './lessons.js';
import type { SequenceScores } from './model/policy.js';
import { samplerLogprobs } from './rollout/nodes.js';
import type { Settings } from './run/settings.js';
import { turnViewOf } from './turnCredit.js';

/** What a step's critic makes of its lessons; arrays have one entry a lesson, [time]. */
export interface Judgement {
  readonly advantages: readonly Advantage[];
  /** What the critic said before the step's first update. */
  readonly oldValues: readonly Float32Array[];
  readonly estimates: readonly CriticEstimate[];
}

/**
 * Advantages of PPO: GAE over what the critic expected, whitened over the tokens of all lessons, as verl does; or those of
 * V-trace, which carry their weights and would lose them by being whitened; or those of scored turns, which are the group's.
 * @param scores of the lessons before the step's first update
 * @param outcomes what the comparison with the group credits each lesson's turns with; looked at by scored turns only
 */
export function judge(
  lessons: readonly Rollout[],
  { old }: Scores,
  penalties: ReadonlyMap<Rollout, Float64Array>,
  { algorithm }: Settings,
  outcomes: ReadonlyMap<Rollout, Advantage>,
): Judgement {
  const isScored = algorithm.advantage === 'scored-turns';
  const isCorrected = algorithm.importanceCorrection === 'v-trace';
  const byTurn = isScored || algorithm.advantage === 'turn-gae';
  const options = { ...algorithm, gamma: byTurn ? algorithm.turnDiscount : algorithm.gamma };
  const oldValues = lessons.map((_, index) => stateValuesOf(old?.[index]));
  const estimates = lessons.map((lesson, index) => {
    const { trajectory, actionMask, reward } = lesson;
    const sampled = isCorrected ? samplerLogprobs(trajectory) : null;
    const rollout: ValuedRollout = {
      reward: reward!,
      actionMask,
      stateValues: oldValues[index],
      penalties: penalties.get(lesson) ?? null,
      turnOfToken: byTurn ? turnViewOf(trajectory).turnOfToken : null,
      logRatios: sampled && old![index].logprobs.map((value, t) => value - sampled[t]),
    };
    if (!isScored) return criticEstimate(rollout, options);
    const outcome = outcomes.get(lesson)!;
    const ofTokens = typeof outcome === 'number' ? Float64Array.from(actionMask, (bit) => bit * outcome) : outcome;
    return scoredTurns(ofTokens, rollout, { ...options, weight: algorithm.stepWeight });
  });
  const plain = estimates.map(({ advantages }) => advantages);
  const masks = lessons.map(({ actionMask }) => actionMask);
  return { advantages: isCorrected || isScored ? plain : whiten(plain, masks), oldValues, estimates };
}

/** dL/dV of each lesson in one update, and that update's metrics by verl's names. */
export interface CriticUpdate {
  readonly coefficients: readonly Float32Array[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** PPO's value loss over all actions of the lessons, times its weight. */
export function criticUpdate(
  { oldValues, estimates }: Judgement,
  now: readonly SequenceScores[],
  { algorithm: { valueClip, valueCoefficient } }: Settings,
): CriticUpdate {
  const places = estimates.map(({ valued }) => [...valued.keys()].filter((t) => valued[t] === 1));
  const tokens = places.reduce((sum, { length }) => sum + length, 0);
  const results = estimates.map(({ valued, targets }, index) =>
    valueCoefficients(
      { actionMask: valued, values: stateValuesOf(now[index]), oldValues: oldValues[index], returns: targets },
      { clip: valueClip, tokens },
    ),
  );
  const total = (of: (result: (typeof results)[number]) => number) => results.reduce((sum, one) => sum + of(one), 0);
  const targets = places.flatMap((at, index) => at.map((t) => estimates[index].targets[t]));
  const values = places.flatMap((at, index) => at.map((t) => oldValues[index][t]));
  const spread = variance(targets);
  return {
    coefficients: results.map(({ coefficients }) => coefficients.map((value) => value * valueCoefficient)),
    metrics: {
      'critic/vf_loss': total(({ loss }) => loss),
      'critic/vf_clipfrac': total(({ clipped }) => clipped) / tokens,
      'critic/values/mean': meanOf(values),
      'critic/returns/mean': meanOf(targets),
      // 0 where there is nothing to explain: a record holds finite numbers only.
      'critic/vf_explained_var': spread === 0 ? 0 : 1 - variance(targets.map((one, i) => one - values[i])) / spread,
    },
  };
}

const variance = (values: readonly number[]) => {
  const mean = meanOf(values);
  return meanOf(values.map((value) => (value - mean) ** 2));
};

function stateValuesOf(scores: SequenceScores | undefined): Float32Array {
  if (scores?.stateValues) return scores.stateValues;
  throw new Error('internal: the learner has no critic');
}
