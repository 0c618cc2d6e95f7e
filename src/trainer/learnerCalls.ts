import type {
  AdamWOptions,
  Learner,
  SequenceCoefficients,
  SequenceScores,
  StepResult,
  TrainingSequence,
} from './model/policy.js';
import type { Settings } from './run/settings.js';

/** Scores sequences that were sampled at different temperatures, each at its own. */
export const scoreAtTemperatures = (
  learner: Learner,
  sequences: readonly TrainingSequence[],
  temperatures: readonly number[],
): Promise<SequenceScores[]> =>
  byTemperature(temperatures, (indices, temperature) =>
    learner.score(
      indices.map((index) => sequences[index]),
      temperature,
    ),
  );

/** Adds the gradient of sequences that were sampled at different temperatures, each at its own. */
export const accumulateAtTemperatures = (
  learner: Learner,
  sequences: readonly TrainingSequence[],
  coefficients: readonly SequenceCoefficients[],
  temperatures: readonly number[],
): Promise<SequenceScores[]> =>
  byTemperature(temperatures, (indices, temperature) =>
    learner.accumulate(
      indices.map((index) => sequences[index]),
      indices.map((index) => coefficients[index]),
      temperature,
    ),
  );

/** One call a temperature, in the order of their first sequences; results in the order of the sequences. */
async function byTemperature(
  temperatures: readonly number[],
  call: (indices: readonly number[], temperature: number) => Promise<SequenceScores[]>,
): Promise<SequenceScores[]> {
  const results = new Array<SequenceScores>(temperatures.length);
  for (const temperature of new Set(temperatures)) {
    const indices = temperatures.flatMap((each, index) => (each === temperature ? [index] : []));
    const found = await call(indices, temperature);
    indices.forEach((index, position) => (results[index] = found[position]));
  }
  return results;
}

/** AdamW as the run's settings have it. */
export const optimizerOptions = ({
  learningRate,
  weightDecay,
  maxGradientNorm,
  optimizer: { beta1, beta2, epsilon },
}: Pick<Settings, 'learningRate' | 'weightDecay' | 'maxGradientNorm' | 'optimizer'>): AdamWOptions => ({
  learningRate,
  beta1,
  beta2,
  epsilon,
  weightDecay,
  maxGradientNorm,
});

/**
 * How many updates were made, and how many left out because their gradient was not finite; in float16 the last one's scale of the
 * loss, by DeepSpeed's and Megatron's name.
 */
export const updateCounts = (steps: readonly Omit<StepResult, 'gradientNorm'>[]): Record<string, number> => {
  const skipped = steps.filter((step) => step.skipped).length;
  const lossScale = steps.at(-1)?.lossScale;
  return {
    'updates/made': steps.length - skipped,
    'updates/skipped': skipped,
    ...(lossScale !== undefined && { loss_scale: lossScale }),
  };
};
