import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  asynchronySchema,
  checkpointsSchema,
  curriculumSchema,
  explorationSchema,
  replaySchema,
  stageMethods,
  type StageMethod,
} from '../trainer/run/routeSettings.js';
import type { SettingsInput } from '../trainer/run/settings.js';
import { decimalNumber, phrase, wholeNumber } from './options.js';

/** Options for the stages of a run, its curriculum, exploration, replay and checkpoints. */
export interface RouteOptions {
  readonly curriculum?: 'uniform' | 'adaptive';
  readonly retireAfter?: number;
  readonly restSteps?: number;
  readonly horizonStart?: number;
  readonly horizonSteps?: number;
  readonly temperatureEnd?: number;
  readonly temperatureSpread?: number;
  readonly toolEpsilon?: number;
  readonly toolEpsilonEnd?: number;
  readonly replay?: number;
  readonly replayOrder?: 'fifo' | 'priority';
  readonly replayStaleness?: number;
  readonly replayUses?: number;
  readonly maxStaleness?: number;
  readonly keepLast?: number;
  readonly keepBest?: boolean;
  readonly keepEvery?: number;
  readonly diskGigabytes?: number;
}

export function addRouteOptions(command: Command): void {
  const { order, retireAfter, restSteps, horizonStart, horizonSteps } = curriculumSchema.shape;
  const { temperatureEnd, temperatureSpread, toolEpsilon, toolEpsilonEnd } = explorationSchema.shape;
  const replay = replaySchema.shape;
  const checkpoints = checkpointsSchema.shape;
  command
    .option(
      '--stages <list>',
      `what is learned after the warm start, e.g. rejection-sampling:5,dpo:2,policy-gradient:20 (methods: ${stageMethods.join(', ')})`,
      stageList,
    )
    .option(
      '--warm-start-negative-weight <x>',
      "how hard the warm start pushes away from the starting policy's own failures; 0 leaves them out",
      decimalNumber,
    )
    .addOption(new Option('--curriculum <order>', phrase(order)).choices(order.unwrap().options))
    .option('--retire-after <n>', phrase(retireAfter), wholeNumber)
    .option('--rest-steps <n>', phrase(restSteps), wholeNumber)
    .option('--horizon-start <n>', phrase(horizonStart), wholeNumber)
    .option('--horizon-steps <n>', phrase(horizonSteps), wholeNumber)
    .option('--temperature-end <x>', phrase(temperatureEnd), decimalNumber)
    .option('--temperature-spread <x>', phrase(temperatureSpread), decimalNumber)
    .option('--tool-epsilon <x>', phrase(toolEpsilon), decimalNumber)
    .option('--tool-epsilon-end <x>', phrase(toolEpsilonEnd), decimalNumber)
    .option('--replay <n>', phrase(replay.groups), wholeNumber)
    .addOption(new Option('--replay-order <order>', phrase(replay.order)).choices(replay.order.unwrap().options))
    .option('--replay-staleness <n>', phrase(replay.staleness), wholeNumber)
    .option('--replay-uses <n>', phrase(replay.uses), wholeNumber)
    .option('--max-staleness <n>', phrase(asynchronySchema.shape.maxStaleness), wholeNumber)
    .option('--keep-last <n>', phrase(checkpoints.keepLast), wholeNumber)
    .option('--no-keep-best', 'the checkpoint with the best reward goes like the others')
    .option('--keep-every <n>', phrase(checkpoints.keepEvery), wholeNumber)
    .option('--disk-gigabytes <x>', phrase(checkpoints.diskGigabytes), decimalNumber);
}

/** The sections of the settings that the options name; what they do not name is undefined. */
export function routeSections(
  options: RouteOptions,
): Pick<SettingsInput, 'curriculum' | 'exploration' | 'replay' | 'asynchrony' | 'checkpoints'> {
  const { retireAfter, restSteps, horizonStart, horizonSteps } = options;
  const { temperatureEnd, temperatureSpread, toolEpsilon, toolEpsilonEnd } = options;
  const { keepLast, keepBest, keepEvery, diskGigabytes } = options;
  return {
    curriculum: { order: options.curriculum, retireAfter, restSteps, horizonStart, horizonSteps },
    exploration: { temperatureEnd, temperatureSpread, toolEpsilon, toolEpsilonEnd },
    replay: {
      groups: options.replay,
      order: options.replayOrder,
      staleness: options.replayStaleness,
      uses: options.replayUses,
    },
    asynchrony: { maxStaleness: options.maxStaleness },
    // Commander says true where nothing was said.
    checkpoints: { keepLast, keepBest: keepBest === false ? false : undefined, keepEvery, diskGigabytes },
  };
}

/** `method:steps,…`; what else a stage can be told is said in the settings file. */
export function stageList(text: string): { method: StageMethod; steps: number }[] {
  return text.split(',').map((part) => {
    const [method, steps, ...rest] = part.split(':');
    if (!isMethod(method) || rest.length > 0 || !/^[1-9]\d{0,5}$/.test(steps ?? '')) {
      throw new InvalidArgumentError(`${JSON.stringify(part)} is no METHOD:STEPS.`);
    }
    return { method, steps: Number(steps) };
  });
}

const isMethod = (text: string): text is StageMethod => (stageMethods as readonly string[]).includes(text);
