import { Option, type Command } from 'commander';
import { judgeSchema } from '../trainer/run/judgeSettings.js';
import type { SettingsInput } from '../trainer/run/settings.js';
import { filled, phrase } from './options.js';

/** Who judges episodes beside the tests; what else there is to say of it stands in the settings file. */
export interface JudgeOptions {
  readonly judge?: string;
  readonly judgeModel?: string;
}

export function addJudgeOptions(command: Command): Command {
  const { url, model } = judgeSchema.shape;
  return command
    .addOption(new Option('--judge <url>', `${phrase(url)} (key in OPENAI_API_KEY)`).argParser(filled))
    .addOption(new Option('--judge-model <name>', phrase(model)).argParser(filled));
}

/** The section of the settings that the options name; what they do not name is undefined. */
export const judgeSection = ({ judge, judgeModel }: JudgeOptions): Pick<SettingsInput, 'judge'> => ({
  judge: { url: judge, model: judgeModel },
});
