import { z } from 'zod';
import { say } from '../../trajectory/said.js';

const learningRate = z.number().nonnegative().optional().describe('Learning rate of the stage; absent: the run’s.');
const steps = z.int().positive().describe('Steps of the stage.');
const epochs = z.int().positive().default(1).describe('Updates over what one step has to learn from.');

/** One stage of a run: how its steps turn rollouts into gradients. */
export const stageSchema = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('policy-gradient'), steps, learningRate }),
  z.strictObject({
    method: z.literal('rejection-sampling'),
    steps,
    learningRate,
    epochs,
    keep: z.int().positive().default(4).describe('Solved rollouts of a task that are imitated in one step.'),
    negativeWeight: z
      .number()
      .nonnegative()
      .default(0)
      .describe('How hard the step pushes away from the failures beside them; 0 leaves them out.'),
  }),
  z
    .strictObject({
      method: z.enum(['dpo', 'ipo', 'kto', 'orpo', 'simpo']),
      steps,
      learningRate,
      epochs,
      beta: z
        .number()
        .positive()
        .optional()
        .describe('Strength of the loss (lambda of ORPO); absent: 0.1, for SimPO 2.'),
      margin: z.number().nonnegative().default(0.5).describe("SimPO's margin gamma."),
      pairsPerTask: z.int().positive().default(4).describe('Pairs of one task in one step, the most different first.'),
      recorded: z
        .boolean()
        .default(false)
        .describe('Pairs come from what the run has recorded of the tasks, and nothing is played.'),
      from: z
        .string()
        .min(1)
        .optional()
        .describe(
          'With `recorded`: id of another run, e.g. of a search, whose rollouts of the train tasks this run takes over first.',
        ),
    })
    .refine(({ recorded, from }) => recorded || from === undefined, {
      message: say`\`from\` wants \`recorded\``.message,
      path: ['from'],
    }),
]);
export type StageSettings = z.infer<typeof stageSchema>;
export type StageMethod = StageSettings['method'];
export type PreferenceStage = Extract<StageSettings, { beta?: number }>;
export type RejectionStage = Extract<StageSettings, { method: 'rejection-sampling' }>;

export const stageMethods: readonly StageMethod[] = [
  'policy-gradient',
  'rejection-sampling',
  'dpo',
  'ipo',
  'kto',
  'orpo',
  'simpo',
];

export const stepsOfStages = (stages: readonly { readonly steps: number }[]) =>
  stages.reduce((sum, stage) => sum + stage.steps, 0);

export const curriculumSchema = z.strictObject({
  order: z
    .enum(['uniform', 'adaptive'])
    .default('uniform')
    .describe('`uniform` plays all tasks equally often; `adaptive` prefers those that succeed half of the time.'),
  retireAfter: z
    .int()
    .nonnegative()
    .default(2)
    .describe('Adaptive: wholly solved groups in a row after which a task rests; 0 never lets it rest.'),
  restSteps: z.int().positive().default(10).describe('Adaptive: steps that a solved task rests.'),
  horizonStart: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Turns of an episode in the first step; they grow to maxTurns. 0: maxTurns from the start.'),
  horizonSteps: z.int().nonnegative().default(0).describe('Steps over which the turns grow; 0: half of the run.'),
});

export const explorationSchema = z.strictObject({
  temperatureEnd: z
    .number()
    .nonnegative()
    .default(0)
    .describe('Temperature of the last step, reached in a straight line; 0 keeps that of the first.'),
  temperatureSpread: z
    .number()
    .nonnegative()
    .max(0.9)
    .default(0)
    .describe('Diverse groups: their temperatures lie evenly between 1 - x and 1 + x times that of the step.'),
  toolEpsilon: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe(
      'Probability with which a turn of a rollout is made to begin with the call of a tool, any of them alike; the policy goes on behind it, and only that is learned from. 0 leaves it out.',
    ),
  toolEpsilonEnd: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('That probability in the last step, reached in a straight line; absent: that of the first.'),
});

export const replaySchema = z.strictObject({
  groups: z.int().nonnegative().default(0).describe('Groups of earlier steps in each step; 0 leaves replay out.'),
  order: z
    .enum(['fifo', 'priority'])
    .default('fifo')
    .describe('`fifo` takes the oldest that may still be used, `priority` those whose rewards differ most.'),
  staleness: z.int().positive().default(4).describe('Steps for which a group may be learned from again.'),
  uses: z.int().positive().default(1).describe('How many times a group is learned from again.'),
});

export const asynchronySchema = z.strictObject({
  maxStaleness: z
    .int()
    .nonnegative()
    .max(8)
    .default(0)
    .describe(
      'Updates by which the weights that play a step may be older than those that learn from it: so many steps are played ahead, while the learner learns. 0 plays and learns by turns.',
    ),
});

export const memorySchema = z.strictObject({
  lessons: z
    .int()
    .nonnegative()
    .max(10)
    .default(0)
    .describe(
      'Lessons of earlier failed attempts of a task that an attempt is shown, the newest; 0 leaves memory out.',
    ),
  writer: z
    .enum(['facts', 'policy'])
    .default('facts')
    .describe('Who writes them: a template of what the tools answered, or the policy itself out of that.'),
});

export const checkpointsSchema = z.strictObject({
  keepLast: z.int().positive().default(2).describe('Newest checkpoints that are kept.'),
  keepBest: z.boolean().default(true).describe('Whether the checkpoint with the best reward is kept.'),
  keepEvery: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Checkpoints of every so many steps are kept for good; 0: none.'),
  diskGigabytes: z
    .number()
    .nonnegative()
    .default(0)
    .describe('Disk budget of a run: beyond it older checkpoints go, and then the run stops; 0: no limit.'),
});
export type CheckpointSettings = z.infer<typeof checkpointsSchema>;
