import { Option, type Command } from 'commander';
import { settingsSchema, type SettingsInput } from '../trainer/run/settings.js';
import { countFromOne, decimalNumber, phrase, wholeNumber } from './options.js';

/** Settings of how episodes are played that both training and evaluation are told: sampling, the context, tool calls. */
const names = [
  'temperature',
  'topP',
  'topK',
  'minP',
  'toolFormat',
  'constrainedCalls',
  'keptObservations',
  'contextThreshold',
  'contextShare',
  'contextSummary',
  'selfCheck',
  'maxTurns',
  'maxTokensPerTurn',
  'rememberTestRuns',
] as const satisfies readonly (keyof SettingsInput)[];

export type PlayingOptions = Pick<SettingsInput, (typeof names)[number]>;

/** What a policy other than a model of ours (`--policy`) does not know. */
const ofModels = 'policy';

export function addPlayingOptions(command: Command): Command {
  const { shape } = settingsSchema;
  return command
    .option(
      '--temperature <x>',
      `${phrase(shape.temperature)}; an evaluation that plays each task once is greedy`,
      decimalNumber,
    )
    .option('--top-p <x>', phrase(shape.topP), decimalNumber)
    .option('--top-k <n>', phrase(shape.topK), wholeNumber)
    .option('--min-p <x>', phrase(shape.minP), decimalNumber)
    .addOption(
      new Option('--tool-format <name>', phrase(shape.toolFormat))
        .choices(shape.toolFormat.unwrap().options)
        .conflicts(ofModels),
    )
    .addOption(new Option('--constrained-calls', phrase(shape.constrainedCalls)).conflicts(ofModels))
    .addOption(
      new Option('--kept-observations <n>', phrase(shape.keptObservations)).argParser(wholeNumber).conflicts(ofModels),
    )
    .addOption(
      new Option('--context-threshold <kind>', phrase(shape.contextThreshold))
        .choices(shape.contextThreshold.unwrap().options)
        .conflicts(ofModels),
    )
    .addOption(
      new Option('--context-share <x>', phrase(shape.contextShare)).argParser(decimalNumber).conflicts(ofModels),
    )
    .addOption(new Option('--context-summary', phrase(shape.contextSummary)).conflicts(ofModels))
    .option('--self-check', phrase(shape.selfCheck))
    .option('--max-turns <n>', phrase(shape.maxTurns), countFromOne)
    .option('--max-tokens-per-turn <n>', phrase(shape.maxTokensPerTurn), countFromOne)
    .option('--remember-test-runs', 'the tests of the same tree run once, as they do unless the settings file says not')
    .option('--no-remember-test-runs', 'the tests run each time that they are asked for');
}

/** The settings that the options name; what they do not name is undefined. */
export const playingSettings = (options: PlayingOptions): PlayingOptions =>
  Object.fromEntries(names.map((name) => [name, options[name]]));
