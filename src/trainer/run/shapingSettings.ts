import { z } from 'zod';

const weight = z.number().nonnegative();

/** Process rewards: what an episode's way adds to the grade of its end. All off by default. */
export const shapingSchema = z.strictObject({
  milestones: weight
    .default(0)
    .describe(
      'Weight of the share of milestones that an episode reached: failure reproduced, faulty file opened, faulty place edited, a failing test mended; 0 leaves them out.',
    ),
  toolUse: weight
    .default(0)
    .describe('The most that the use of tools adds to the reward or takes from it; 0 leaves it out.'),
  rightTool: weight
    .default(0.1)
    .describe(
      'Of toolUse: what each kind of work adds once that was done with its own tool: reading before a change, changing, running the tests after it, submitting.',
    ),
  repeatedCall: weight
    .default(0.05)
    .describe(
      'Of toolUse: what each call costs that was made before, with nothing changed since that could make another answer.',
    ),
  givenUp: weight
    .default(0)
    .describe('Of toolUse: what it costs to submit though the tests, when they ran last, did not all pass.'),
  unknownTool: weight.default(0.3).describe('Of toolUse: what each call of a tool that does not exist costs.'),
  length: z
    .enum(['none', 'linear', 'sigmoid'])
    .default('none')
    .describe(
      'What sampled tokens beyond lengthTarget cost: `linear` lengthCost each, at most lengthMost; `sigmoid` multiplies a positive reward by a gate that falls from 1 to 0 around lengthTarget.',
    ),
  lengthTarget: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Sampled tokens of an episode from which on length costs; 0: half of maxTurns times maxTokensPerTurn.'),
  lengthCost: weight.default(1e-4).describe('Of `linear`: what a token beyond lengthTarget costs.'),
  lengthMost: weight.default(0.5).describe('Of `linear`: the most that length costs.'),
  lengthWidth: z
    .number()
    .positive()
    .default(200)
    .describe('Of `sigmoid`: tokens behind lengthTarget at which 27 % of the reward is left.'),
});
export type ShapingSettings = z.infer<typeof shapingSchema>;
