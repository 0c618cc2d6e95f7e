import { z } from 'zod';
import { say } from '../../trajectory/said.js';
import { advantageEstimatorNames, isGroupEstimator, isTurnEstimator } from '../algorithm/advantageEstimators.js';
import { policyLossNames } from '../algorithm/policyLosses.js';

/** How rewards become gradients: what a step of learning computes, beside the clipping and the KL weight. */
export const algorithmSchema = z
  .strictObject({
    advantage: z
      .enum(advantageEstimatorNames)
      .default('grpo')
      .describe(
        'What a reward is held against: the group (`grpo`, `dr-grpo`, `rloo`), the whole step (`reinforce++`), turn by turn (`turn-discounted`, `gigpo`, `igpo`, `subgoals`), what a critic expected of each token (`gae`, PPO) or turn (`turn-gae`), or the group and a learned score of each turn (`scored-turns`).',
      ),
    loss: z
      .enum(policyLossNames)
      .default('grpo')
      .describe('The loss; `gspo` wants a far narrower clipLow and clipHigh (3e-4, 4e-4), `cispo` wider ones.'),
    dualClip: z
      .number()
      .refine((bound) => bound === 0 || bound > 1, { message: say`it must be above 1, or 0 to leave it out`.message })
      .default(0)
      .describe('Dual clip: the most that the ratio counts where the advantage is negative; 0 leaves it out.'),
    klEstimator: z
      .enum(['k1', 'k2', 'k3'])
      .default('k3')
      .describe('Estimator of the KL divergence; in the loss `k1` has no effect on average.'),
    klPlace: z.enum(['loss', 'reward']).default('loss').describe('Where the KL term counts.'),
    entropyCoefficient: z.number().nonnegative().default(0).describe('Weight of the entropy bonus; 0 leaves it out.'),
    importanceCorrection: z
      .enum(['none', 'token-truncate', 'token-mask', 'sequence-truncate', 'sequence-mask', 'v-trace'])
      .default('none')
      .describe(
        "Correction where the sampler's probabilities differ from the learner's, replay's first of all; `v-trace` needs a critic.",
      ),
    importanceLow: z.number().nonnegative().default(0).describe('Least weight of the importance correction.'),
    importanceHigh: z.number().positive().default(3).describe('Greatest weight of the importance correction.'),
    dynamicSampling: z
      .int()
      .nonnegative()
      .default(0)
      .describe(
        'Dynamic sampling: how many times in one step the groups of equal rewards are replaced by newly played ones; 0 leaves it out.',
      ),
    pivots: z
      .int()
      .nonnegative()
      .default(0)
      .describe(
        'Tree rollouts: turns of each group, those that the policy was least sure of, in place of which it plays on again; 0 leaves them out.',
      ),
    continuations: z.int().positive().default(4).describe('Rollouts that are played on from each of the pivots.'),
    macroTurns: z.int().positive().default(1).describe('Turns of a macro-step: rollouts part only behind whole ones.'),
    overlongBuffer: z
      .int()
      .nonnegative()
      .default(0)
      .describe(
        'Soft overlong punishment: the sampled tokens below overlongLength in which it grows from 0 to overlongFactor; 0 leaves it out.',
      ),
    overlongLength: z
      .int()
      .nonnegative()
      .default(0)
      .describe('Sampled tokens at which the overlong punishment is whole; 0: maxTurns times maxTokensPerTurn.'),
    overlongFactor: z.number().nonnegative().default(1).describe('What the overlong punishment takes from the reward.'),
    maskTruncated: z
      .boolean()
      .default(false)
      .describe('Rollouts that a limit cut off teach nothing, though their rewards count in the group.'),
    turnDiscount: z
      .number()
      .positive()
      .max(1)
      .default(0.95)
      .describe(
        'Discount from turn to turn of `turn-discounted`, `gigpo`, `igpo`, `subgoals`, `turn-gae` and `scored-turns`; between the tokens of a turn there is none.',
      ),
    stepWeight: z
      .number()
      .nonnegative()
      .default(1)
      .describe(
        "Weight of GiGPO's comparison of turns that began in the same state, of that of turns as far from their `subgoals`, and of the learned scores of `scored-turns`.",
      ),
    gamma: z.number().positive().max(1).default(1).describe('`gae`: discount from token to token.'),
    lambda: z
      .number()
      .nonnegative()
      .max(1)
      .default(0.95)
      .describe('`gae`, `turn-gae`, `scored-turns` and `v-trace`: 0 trusts the critic, 1 the outcome.'),
    valueClip: z
      .number()
      .positive()
      .default(0.2)
      .describe('Clipping of the value loss: how far a value may move from that before the step.'),
    valueCoefficient: z
      .number()
      .positive()
      .default(0.1)
      .describe('Weight of the value loss beside that of the policy, whose layers the critic shares.'),
    valueLearningRate: z.number().nonnegative().default(1e-4).describe("Learning rate of the critic's own parameters."),
    rhoBar: z.number().positive().default(1).describe("Greatest weight of V-trace's differences."),
    cBar: z.number().positive().default(1).describe("Greatest weight of V-trace's traces."),
  })
  .refine(
    ({ advantage, importanceCorrection }) =>
      importanceCorrection !== 'v-trace' || advantage === 'gae' || advantage === 'turn-gae',
    {
      message: say`the importance correction \`v-trace\` needs a critic: the advantage \`gae\` or \`turn-gae\``.message,
    },
  )
  .refine(({ pivots, advantage }) => pivots === 0 || isGroupEstimator(advantage), {
    message: say`with \`pivots\` the advantage must be \`grpo\`, \`dr-grpo\` or \`rloo\``.message,
  })
  .refine(({ pivots, klPlace }) => pivots === 0 || klPlace === 'loss', {
    message: say`with \`pivots\` the KL term cannot be in the reward`.message,
  })
  .refine(
    ({ advantage, klPlace }) => klPlace === 'loss' || !(isTurnEstimator(advantage) || advantage === 'scored-turns'),
    {
      message: say`with a KL term in the reward the advantage cannot be turn by turn`.message,
    },
  );
