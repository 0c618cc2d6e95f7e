import { readFile } from 'node:fs/promises';
import { sandboxChoiceSchema } from '../../env/sandbox/sandboxChoice.js';
import { parseRunners, runnersSchema } from '../../env/testing/configured/runnersConfig.js';
import path from 'node:path';
import { z } from 'zod';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { saidOfIssue } from '../../trajectory/saidOfIssue.js';
import { providers } from '../graph/provider.js';
import { toolFormatNames } from '../text/toolFormats/toolFormat.js';
import { algorithmSchema } from './algorithmSettings.js';
import { judgeSchema } from './judgeSettings.js';
import { embeddedDefaults } from './embeddedSettings.js';
import { activationMemorySchema, loraSchema, optimizerSchema, precisionSchema } from './learnerSettings.js';
import {
  asynchronySchema,
  checkpointsSchema,
  curriculumSchema,
  explorationSchema,
  memorySchema,
  replaySchema,
  stageSchema,
  stepsOfStages,
} from './routeSettings.js';
import { experts } from '../warmStart/experts.js';
import { shapingSchema } from './shapingSettings.js';

/** Everything that decides a run, with the defaults; `whetstone.config.json` and the command line's flags override. */
export const settingsSchema = z.strictObject({
  model: z
    .string()
    .min(1)
    .default('embedded')
    .describe(
      'The policy: `embedded`, a folder in Hugging Face layout or a GGUF file (relative to the repository), or a name on the hub: `owner/name`, `owner/name@revision`, `owner/name:file.gguf`. A training of the embedded policy has defaults of its own (docs/training.md).',
    ),
  device: z
    .enum(['auto', ...providers])
    .default('auto')
    .describe('Where the policy computes; `auto` measures what is there and takes the fastest.'),
  hubEndpoint: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The hub that named models come from, e.g. a mirror; HF_ENDPOINT goes first. It is never given your token.',
    ),
  sandbox: sandboxChoiceSchema
    .default('auto')
    .describe("What confines the policy's commands; `unconfined` is for code that you trust."),
  workers: z
    .array(z.url({ protocol: /^https?$/, error: say`it must be an http or https address`.message }))
    .default([])
    .describe(
      'Servers (`whetstone serve --openenv`) that play the environment of episodes; none: this machine. A repository may not choose them itself.',
    ),
  doctor: z
    .enum(['off', 'report', 'pause'])
    .default('report')
    .describe('Looks for failure modes after each step: `report` records them, `pause` also pauses at critical ones.'),
  seed: z.int().nonnegative().default(1).describe('Everything random in a run is derived from this.'),
  steps: z.int().nonnegative().default(20).describe('Training steps; 0 only evaluates.'),
  tasksPerStep: z.int().positive().default(8).describe('Tasks in one step, one group of rollouts each.'),
  groupSize: z.int().min(2).default(8).describe('G: rollouts of one task in one step.'),
  temperature: z.number().positive().default(1).describe('Sampling temperature of rollouts.'),
  topP: z.number().positive().max(1).default(1).describe('Nucleus sampling; 1 leaves it out.'),
  topK: z.int().nonnegative().default(0).describe('Sampling from the k likeliest tokens; 0 leaves it out.'),
  minP: z
    .number()
    .nonnegative()
    .max(1)
    .default(0)
    .describe('Sampling from tokens at least this share as probable as the likeliest; 0 leaves it out.'),
  stopStrings: z.array(z.string().min(1)).default([]).describe('Text that ends a turn, beside the stop tokens.'),
  toolFormat: z
    .enum(['auto', ...toolFormatNames])
    .default('auto')
    .describe('How the policy writes tool calls; `auto` takes what its chat template writes.'),
  constrainedCalls: z
    .boolean()
    .default(false)
    .describe(
      'Turns are sampled under the grammar of the tools, so that calls are valid; the policy gradient cannot learn from such rollouts.',
    ),
  keptObservations: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Where the context fills, older observations are left out but for this many; 0 keeps all.'),
  contextShare: z
    .number()
    .positive()
    .max(1)
    .default(0.75)
    .describe('Share of the context from which on it counts as full.'),
  contextThreshold: z
    .enum(['share', 'dynamic'])
    .default('share')
    .describe(
      'When the context counts as full: from `contextShare` of it on, or (`dynamic`) where one more turn as long as the longest so far might not fit.',
    ),
  contextSummary: z
    .boolean()
    .default(false)
    .describe(
      'Where the context fills, and fewer observations do not help, the policy writes a summary of its progress and goes on from it alone.',
    ),
  selfCheck: z
    .boolean()
    .default(false)
    .describe(
      'The first submission of an episode is answered with the wish to check the work; the second one ends it.',
    ),
  maxTurns: z.int().positive().default(10).describe('Turns of the policy in one episode.'),
  maxTokensPerTurn: z.int().positive().default(320).describe('Sampled tokens in one turn.'),
  episodeSeconds: z
    .number()
    .positive()
    .default(120)
    .describe("Seconds that an episode's commands may take together; the policy's own computing does not count."),
  testSeconds: z.number().positive().default(60).describe('Seconds that one run of the tests may take.'),
  warmStartEpochs: z
    .int()
    .nonnegative()
    .default(0)
    .describe(
      "Passes over an expert's episodes of the train tasks before the first step; 0 leaves the warm start out.",
    ),
  warmStartExpert: z
    .enum(experts)
    .default('choose')
    .describe(
      'How the expert of the warm start mends: `choose` takes one of the changes that `suggest` lists, and leaves out tasks that none of them mends; `edit` quotes what it replaces.',
    ),
  warmStartLearningRate: z.number().nonnegative().default(3e-4).describe('Highest learning rate of the warm start.'),
  warmStartNegativeWeight: z
    .number()
    .nonnegative()
    .default(0)
    .describe(
      "Negative examples of the warm start: how hard it pushes away from the starting policy's own failures on the train tasks; 0 leaves them out.",
    ),
  hindsightWeight: z
    .number()
    .nonnegative()
    .default(0)
    .describe(
      'Hindsight: weight with which a step imitates its failures that mended some of the failing tests, as solutions of the smaller task that they solved; 0 leaves it out.',
    ),
  stages: z
    .array(stageSchema)
    .default([])
    .describe('What is learned after the warm start, one stage after the other; none: `steps` of the policy gradient.'),
  curriculum: curriculumSchema.prefault({}).describe('Which tasks a step plays, and for how many turns.'),
  exploration: explorationSchema
    .prefault({})
    .describe('How the temperature of rollouts changes, and how often a tool is forced on them.'),
  replay: replaySchema.prefault({}).describe('Groups of earlier steps that are learned from again.'),
  asynchrony: asynchronySchema.prefault({}).describe('Rollouts that are played while the learner learns.'),
  memory: memorySchema.prefault({}).describe('What attempts of a task are told of earlier failed ones (Reflexion).'),
  lora: loraSchema.prefault({}).describe('What is trained: all parameters, or an adapter.'),
  optimizer: optimizerSchema.prefault({}).describe('AdamW, and how its learning rate changes.'),
  precision: precisionSchema,
  activationMemory: activationMemorySchema,
  learningRate: z.number().nonnegative().default(2e-5).describe('Learning rate of AdamW.'),
  weightDecay: z.number().nonnegative().default(0).describe('Decoupled weight decay of AdamW.'),
  maxGradientNorm: z.number().nonnegative().default(1).describe('Gradients are clipped to this norm; 0 does not clip.'),
  clipLow: z
    .number()
    .positive()
    .max(1)
    .default(0.2)
    .describe('Clipping of the importance ratio: at least 1 - clipLow.'),
  clipHigh: z.number().positive().default(0.2).describe('Clipping of the importance ratio: at most 1 + clipHigh.'),
  klCoefficient: z
    .number()
    .nonnegative()
    .default(0.02)
    .describe('beta of the KL term to the starting policy; 0 leaves it out.'),
  iterations: z.int().positive().default(1).describe("mu: optimizer updates over one step's rollouts."),
  algorithm: algorithmSchema.prefault({}).describe('How rewards become gradients.'),
  reward: z
    .strictObject({
      tests: z.number().nonnegative().default(1).describe('Weight of the test reward.'),
      similarity: z.number().nonnegative().default(0.2).describe('Weight of the patch similarity.'),
      format: z.number().nonnegative().default(0.1).describe('Weight of the format reward.'),
      conduct: z
        .strictObject({
          manyFiles: z.number().nonnegative().default(0.2).describe('Cost of changing more than maxFiles files.'),
          testsNeverRun: z.number().nonnegative().default(0.3).describe('Cost of never running the tests.'),
          lintErrors: z.number().nonnegative().default(0.5).describe('Cost of new syntax errors.'),
          dangerousCommands: z.number().nonnegative().default(1).describe('Cost of a dangerous command.'),
          securityProblems: z.number().nonnegative().default(1).describe('Cost of a new security problem.'),
          maxFiles: z.int().nonnegative().default(5).describe('Files that may be changed without a cost.'),
        })
        .prefault({})
        .describe('What misconduct costs; it is taken from the reward.'),
    })
    .refine((weights) => weights.tests > 0 && weights.tests >= weights.similarity + weights.format, {
      message: say`the weight of the tests must be at least half of all`.message,
    })
    .prefault({})
    .describe("Weights of the reward's components; the outcome (tests) is at least half."),
  shaping: shapingSchema
    .prefault({})
    .describe("What an episode's way adds to its reward (process rewards), beside the grade of its end."),
  judge: judgeSchema.prefault({}).describe('A language model that judges episodes by a rubric, beside the tests.'),
  evaluationTasks: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Held-out tasks played before and after training; 0 plays them all.'),
  evaluationSamples: z.int().positive().default(1).describe('Episodes of each held-out task in one evaluation.'),
  checkpointEvery: z.int().positive().default(5).describe('Steps from one checkpoint to the next.'),
  checkpoints: checkpointsSchema.prefault({}).describe('Which checkpoints are kept.'),
  concurrency: z.int().positive().default(16).describe('Episodes played side by side.'),
  commandConcurrency: z
    .int()
    .nonnegative()
    .default(0)
    .describe('Commands and runs of tests that episodes make side by side; 0: two for each core.'),
  rememberTestRuns: z
    .boolean()
    .default(true)
    .describe(
      'Rollouts and evaluations run the tests of the same tree once; off: each time, for tests whose results change by themselves.',
    ),
  deterministic: z
    .boolean()
    .default(false)
    .describe('Fixes schedule and threads, so that the CPU gives the same bits every time; slower.'),
});

export type Settings = z.infer<typeof settingsSchema>;
/** Settings as a file or flags give them: every key may be missing. */
export type SettingsInput = z.input<typeof settingsSchema>;

export const settingsFileName = 'whetstone.config.json';

/** JSON schema of `whetstone.config.json`, for editors. */
export function settingsJsonSchema(): object {
  const schema = z.toJSONSchema(settingsSchema, { io: 'input', target: 'draft-7' });
  // What the tests run with is no setting of a run; the environment reads it from the same file.
  const others = z.toJSONSchema(z.object({ runners: runnersSchema }), { io: 'input', target: 'draft-7' });
  // A settings file may name its schema.
  return {
    ...schema,
    title: 'Settings of Whetstone',
    properties: { $schema: { type: 'string' }, ...schema.properties, ...others.properties },
  };
}

/**
 * Defaults, overridden by `whetstone.config.json` in `repoRoot` (where there is one), overridden by `overrides`
 * (undefined values do not count). Throws bad-input naming the file and the key.
 */
export async function loadSettings(repoRoot: string, overrides: SettingsInput = {}): Promise<Settings> {
  return check(await fromFileAndFlags(repoRoot, overrides), '');
}

/** The same for a training, and for what is compared with one: the embedded policy has defaults of its own (embeddedSettings.ts). */
export async function loadTrainingSettings(repoRoot: string, overrides: SettingsInput = {}): Promise<Settings> {
  const chosen = await fromFileAndFlags(repoRoot, overrides);
  return check(check(chosen, '').model === 'embedded' ? withEmbeddedDefaults(chosen) : chosen, '');
}

/** Fills in what was not chosen: a section of which something was, and what others decide, is as everywhere. */
function withEmbeddedDefaults(chosen: SettingsInput): SettingsInput {
  const isOpen = (name: keyof typeof embeddedDefaults): boolean => {
    if (name === 'steps' && (chosen.stages?.length ?? 0) > 0) return false;
    // Its weights must leave the tests half of all that others weigh.
    if (name === 'shaping' && (chosen.judge?.url !== undefined || !isOpen('reward'))) return false;
    const value = chosen[name];
    return value === undefined || (typeof value === 'object' && Object.keys(value).length === 0);
  };
  const names = Object.keys(embeddedDefaults) as (keyof typeof embeddedDefaults)[];
  const filledIn = names.filter(isOpen).map((name) => [name, embeddedDefaults[name]]);
  return { ...chosen, ...Object.fromEntries(filledIn) };
}

/** What the file says, overridden. Throws as `loadSettings` does where the file alone is wrong. */
async function fromFileAndFlags(repoRoot: string, overrides: SettingsInput): Promise<SettingsInput> {
  const file = path.join(repoRoot, settingsFileName);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw badInput(say`${file} cannot be read (${String(error.code)}).`, 'Make it readable.', error);
  });
  const fromFile = parseObject(text, file);
  delete fromFile.$schema;
  if (fromFile.runners !== undefined) parseRunners(fromFile.runners);
  delete fromFile.runners;
  const own = check(fromFile, `${settingsFileName}: `);
  // The file comes with the repository, which may come from a stranger.
  if (own.workers.length > 0) {
    throw badInput(
      say`${settingsFileName}: setting \`workers\`: a repository may not choose who is given its files and your token.`,
      'Take it out of the file; name them yourself with `--workers`.',
    );
  }
  if (own.judge.url !== undefined) {
    throw badInput(
      say`${settingsFileName}: setting \`judge.url\`: a repository may not choose who is shown episodes and your key.`,
      'Take it out of the file, with `judge.model`; name them yourself with `--judge` and `--judge-model`.',
    );
  }
  if (own.sandbox === 'unconfined') {
    throw badInput(
      say`${settingsFileName}: setting \`sandbox\`: a repository may not choose \`unconfined\` for itself.`,
      'Take it out of the file; choose it yourself with `--sandbox unconfined` where you trust the repository.',
    );
  }
  return merged(fromFile, overrides);
}

/** The second over the first: of a section, too, what the first alone says stays. */
function merged(below: SettingsInput, above: SettingsInput): SettingsInput {
  const sections = sectionNames.map((name) => [name, { ...below[name], ...given(above[name]) }]);
  return { ...below, ...given(above), ...Object.fromEntries(sections) };
}

/** Settings that hold settings: a flag for one of them leaves the others of its section to the file. */
const sectionNames = [
  'reward',
  'shaping',
  'judge',
  'algorithm',
  'lora',
  'optimizer',
  'curriculum',
  'exploration',
  'replay',
  'asynchrony',
  'memory',
  'checkpoints',
] as const;

const given = (values: object = {}) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** Checks settings that came whole from elsewhere, e.g. another process. Throws bad-input naming the key. */
export const parseSettings = (value: unknown): Settings => check(value, '');

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (error) {
    throw badInput(say`${file} is not a JSON object.`, 'Mend its syntax.', error);
  }
}

function check(value: unknown, where: string): Settings {
  const result = settingsSchema.safeParse(value);
  if (result.success) {
    checkOutcomeWeighs(result.data, where);
    return withStepsOfStages(result.data, (value as { steps?: unknown }).steps, where);
  }
  const issue = result.error.issues[0];
  const isUnknown = issue.code === 'unrecognized_keys';
  const key = [...issue.path, ...(isUnknown ? issue.keys.slice(0, 1) : [])].join('.');
  const problem = isUnknown ? say`there is no such setting` : saidOfIssue(issue);
  const remedy =
    issue.path.length === 0
      ? say`The settings are: ${Object.keys(settingsSchema.shape).join(', ')}.`
      : say`Give another value. ${{ message: descriptionOf(issue.path[0]) }}`;
  throw badInput(say`${where}setting \`${key}\`: ${problem}.`, remedy, result.error);
}

/** Whatever the way is worth, the outcome is at least half of what can be earned (requirement R7). */
function checkOutcomeWeighs({ reward, shaping, judge }: Settings, where: string): void {
  const ofJudge = judge.url === undefined ? 0 : judge.weight;
  const others = reward.similarity + reward.format + shaping.milestones + shaping.toolUse + ofJudge;
  if (reward.tests >= others) return;
  throw badInput(
    say`${where}setting \`${ofJudge > 0 ? 'judge' : 'shaping'}\`: with it the tests have ${reward.tests}, less than half of all (${reward.tests + others}).`,
    'Lower `shaping.milestones`, `shaping.toolUse` or `judge.weight`, or raise `reward.tests`.',
  );
}

/** The stages, where there are any, decide how many steps a run has. */
function withStepsOfStages(settings: Settings, steps: unknown, where: string): Settings {
  if (settings.stages.length === 0) return settings;
  const all = stepsOfStages(settings.stages);
  if (steps !== undefined && steps !== all) {
    throw badInput(
      say`${where}setting \`steps\`: it says ${settings.steps}, but the stages have ${all} steps together.`,
      'Leave it out, or change the steps of the stages.',
    );
  }
  return { ...settings, steps: all };
}

/** What a setting means, in its own words. */
function descriptionOf(name: PropertyKey | undefined): string {
  return Object.entries(settingsSchema.shape).find(([key]) => key === name)?.[1].description ?? '';
}
