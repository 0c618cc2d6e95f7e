import { Option, type Command } from 'commander';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseHubModel } from '../trainer/model/hub/modelName.js';
import { expertPlayer } from '../trainer/policies/expertPlayer.js';
import { memorizingPlayer } from '../trainer/policies/memorizingPlayer.js';
import { operatorPlayer, type OperatorOrder } from '../trainer/policies/operatorPlayer.js';
import { serverPlayer } from '../trainer/policies/serverPlayer.js';
import type { MessagePlayer } from '../trainer/rollout/arena.js';
import { findCheckpoints, stepOf, wholeOne } from '../trainer/run/checkpoints.js';
import { openRun, type RunReader } from '../trainer/run/runReader.js';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';
import { filled, modelOption, modelPath } from './options.js';

/** Who plays: a model, the checkpoint of a run, or another player. */
export interface PlayerOptions {
  readonly model?: string;
  readonly run?: string;
  readonly policy?: string;
  readonly policyModel?: string;
}

export const addPlayerOptions = (command: Command) =>
  command
    .addOption(modelOption())
    .addOption(
      new Option('--run <run[:step]>', "a run's checkpoint; the last one where no step is given").conflicts('model'),
    )
    .addOption(
      new Option(
        '--policy <policy>',
        'another player: `expert`; `random-edit[:RUNS]` or `operator-search[:RUNS]`, which try changes in the function at fault, RUNS of them (4); `memorized`, which knows the oracles of the train tasks by heart; or `openai:URL`, an OpenAI-compatible server (key in OPENAI_API_KEY)',
      )
        .argParser(filled)
        .conflicts(['model', 'run']),
    )
    .addOption(
      new Option('--policy-model <name>', 'the model that the server of --policy is asked for').argParser(filled),
    );

/** What the options name, as the setting `model` has it; undefined where they name nothing. */
export async function modelOfOptions(stateFolder: string, { model, run }: PlayerOptions): Promise<string | undefined> {
  return run === undefined ? modelPath(model) : checkpointOf(stateFolder, run);
}

/** Changes that are tried: as many as the ten turns of an episode have room for. */
const defaultTestRuns = 4;

/**
 * Who plays in place of a policy of ours. Throws badInput where the text names nobody.
 * @param tasks of the repository, those to be played among them
 */
export function otherPlayer(policy: string, model: string | undefined, tasks: readonly Task[]): MessagePlayer {
  if (policy === 'expert') return expertPlayer;
  if (policy === 'memorized') return memorizingPlayer(tasks.filter(({ whetstone }) => whetstone.split === 'train'));
  const [, order, testRuns] = /^(random-edit|operator-search)(?::([1-9]\d{0,3}))?$/.exec(policy) ?? [];
  if (order !== undefined) return operatorPlayer(order as OperatorOrder, Number(testRuns ?? defaultTestRuns));
  const url = policy.startsWith('openai:') ? policy.slice('openai:'.length) : '';
  if (!/^https?:\/\/\S+$/.test(url))
    throw badInput(
      say`There is no policy '${policy}'.`,
      'Give `expert`, `random-edit`, `operator-search`, `memorized`, or `openai:` with an http address.',
    );
  if (model === undefined) throw badInput('A server needs the name of a model.', 'Give it with `--policy-model`.');
  const apiKey = process.env.OPENAI_API_KEY;
  return serverPlayer({ url, model, requestSeconds: 300, ...(apiKey === undefined ? {} : { apiKey }) });
}

/** Who plays, in words: a server by its model, since its address says little and may be gone tomorrow. */
export const nameOfPlayer = ({ policy, policyModel }: PlayerOptions, model: string) => policyModel ?? policy ?? model;

/** A model as --model names it, or the checkpoint of a run. */
export async function earlierModel(stateFolder: string, text: string): Promise<string> {
  const isModel = text === 'embedded' || text.endsWith('.gguf') || parseHubModel(text) !== null;
  return isModel || existsSync(path.resolve(text, 'config.json'))
    ? (modelPath(text) ?? text)
    : checkpointOf(stateFolder, text);
}

/** The newest checkpoint of a run that is still there; undefined where there is none. Throws badInput where it is broken. */
export async function checkpointIfAny(run: RunReader): Promise<string | undefined> {
  const newest = (await findCheckpoints(run.paths.checkpoints)).at(-1);
  return newest && wholeOne(newest).folder;
}

/**
 * The folder of `RUN` or `RUN:STEP`; of step 0 of a run without a warm start the model that it started from. Throws badInput
 * where there is no such checkpoint (any more), or it is broken; what else is broken is not asked for.
 */
export async function checkpointOf(stateFolder: string, text: string): Promise<string> {
  const [id, step] = text.split(':');
  const run = openRun(stateFolder, id);
  const checkpoints = await findCheckpoints(run.paths.checkpoints);
  const found = step === undefined ? checkpoints.at(-1) : checkpoints.find((one) => String(stepOf(one)) === step);
  if (found !== undefined) return wholeOne(found).folder;
  const { settings } = await run.config();
  if (step === '0' && settings.warmStartEpochs === 0) return settings.model;
  const steps = checkpoints.map(stepOf).join(', ');
  throw badInput(
    step === undefined ? say`Run ${id} has no checkpoint.` : say`Run ${id} has no checkpoint of step ${step}.`,
    steps === ''
      ? 'Let it train for a while.'
      : say`It has those of the steps ${steps}; older ones are kept with \`--keep-last\` and \`--keep-every\`.`,
  );
}
