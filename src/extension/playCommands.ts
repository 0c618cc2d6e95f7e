import path from 'node:path';
import * as vscode from 'vscode';
import { addressOf, requireTrust } from './commandTargets.js';
import type { Context } from './context.js';
import { PlayCommand, Scheme } from './contributions.js';
import type { ReplayPlace } from './debug/replaySessions.js';
import { evaluateWithModel } from './languageModels/evaluateWithModel.js';
import { pickLanguageModel, withLentModel, type CliPlayer } from './languageModels/lentModel.js';
import { notify } from './messages.js';
import { pickTrajectory, pickTurn } from './pickers.js';
import { withCancellableProgress } from './progress.js';
import type { RunTreeNode } from './runs/runTree.js';
import type { KnownTaskNode } from './tasks/taskTree.js';
import { fromUriQuery, type TrajectoryAddress } from './trajectory/trajectoryAddress.js';
import { turnsOf } from './trajectory/turns.js';
import { t } from './translate.js';

type Target = RunTreeNode | KnownTaskNode | vscode.Uri | undefined;

/** Every command in which somebody else than a trained policy plays, or a policy otherwise than it was recorded. */
export const playCommands: Readonly<
  Record<PlayCommand, (context: Context, target: Target, detail?: unknown) => unknown>
> = {
  [PlayCommand.TakeOver]: takeOver,
  [PlayCommand.BranchHere]: (context, target, detail) =>
    branchHere(context, target, detail, (work) => work({ args: [], env: {} })),
  [PlayCommand.BranchWithModel]: branchWithModel,
  [PlayCommand.EvaluateWithModel]: (context, target, detail) =>
    evaluateWithModel(context, knownTaskOf(target), typeof detail === 'string' ? detail : undefined),
  [PlayCommand.UseText]: ({ takeOvers }) => takeOvers.longTexts.use(),
};

const mostBranches = 64;

async function takeOver(context: Context, target: Target, detail?: unknown): Promise<void> {
  requireTrust();
  const known = knownTaskOf(target);
  if (known) {
    const { repository, task } = known;
    return context.takeOvers.play(repository.root, { taskId: task.instance_id }, task.instance_id);
  }
  const place = await placeOf(context, target, detail, t('Act in place of'));
  if (!place) return;
  const { address, turn } = place;
  const { runId, trajectoryId } = address;
  const point = { runId, trajectoryId, turn: turn - 1 };
  await context.takeOvers.play(path.dirname(address.stateFolder), point, trajectoryId);
}

async function branchWithModel(context: Context, target: Target, detail?: unknown): Promise<void> {
  requireTrust();
  const model = await pickLanguageModel();
  if (model) await branchHere(context, target, detail, (work) => withLentModel(context, model, work));
}

/** @param playedBy says to the command line who plays */
async function branchHere(
  context: Context,
  target: Target,
  detail: unknown,
  playedBy: <T>(work: (player: CliPlayer) => Promise<T>) => Promise<T>,
): Promise<void> {
  requireTrust();
  const place = await placeOf(context, target, detail, t('Branch in place of'));
  if (!place) return;
  const { address, turn } = place;
  const { runId, trajectoryId, stateFolder } = address;
  const count = await vscode.window.showInputBox({
    title: t('Play on in place of turn {0}', turn),
    prompt: t('How many branches?'),
    value: '4',
    validateInput: (text) =>
      /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= mostBranches
        ? undefined
        : t('Give a number from 1 to {0}.', mostBranches),
  });
  if (count === undefined) return;
  const { branchedSchema, runCli } = await import('./engine.js');
  const repoRoot = path.dirname(stateFolder);
  const options = ['--turn', String(turn - 1), '--count', count];
  const title = t('Branching {0} in place of turn {1}', trajectoryId, turn);
  const { branches } = await playedBy((player) =>
    withCancellableProgress(title, context.lifetime, (signal, onProgress) => {
      const args = ['branch', '--json', '--repo', repoRoot, ...options, ...player.args, '--', runId, trajectoryId];
      return runCli({ cli: context.cli, repoRoot, args, env: player.env, onProgress }, branchedSchema, signal);
    }),
  );
  context.store.refresh();
  const solved = branches.filter(({ resolved }) => resolved).length;
  const show = { title: t('Show Rollouts as a Tree'), run: () => showGroup(context, address) };
  notify(t('{0} of {1} branches solved the task.', solved, branches.length), [show]);
}

const knownTaskOf = (target: Target) =>
  target && 'kind' in target && target.kind === 'knownTask' ? target : undefined;

async function showGroup(
  { store, pictures }: Context,
  { stateFolder, runId, trajectoryId }: TrajectoryAddress,
): Promise<void> {
  const { kind, step, taskId } = await (await store.reader(stateFolder, runId)).trajectory(trajectoryId);
  pictures.show({ stateFolder, runId, kind, step, taskId });
}

/** The trajectory, and the turn (1-based) that something else is to be done in place of. */
async function placeOf(
  { store, replaySessions }: Context,
  target: Target,
  detail: unknown,
  title: string,
): Promise<{ readonly address: TrajectoryAddress; readonly turn: number } | undefined> {
  const recorded = recordedTarget(target);
  const replayed = recorded === undefined ? replayedPlace(replaySessions.place) : undefined;
  if (replayed) return replayed;
  const address = addressOf(recorded) ?? (await pickTrajectory(store));
  if (!address) return undefined;
  const named = typeof detail === 'number' ? detail : recorded && 'turn' in recorded ? recorded.turn.number : undefined;
  if (named !== undefined) return { address, turn: named };
  const reader = await store.reader(address.stateFolder, address.runId);
  const turn = await pickTurn(turnsOf(await reader.trajectory(address.trajectoryId)).length, title);
  return turn === undefined ? undefined : { address, turn };
}

/** The target, where it is a record; a debugger's toolbar hands over what stands for its session. */
function recordedTarget(target: Target): RunTreeNode | vscode.Uri | undefined {
  if (target === undefined || target instanceof vscode.Uri) return target;
  return 'kind' in target && target.kind !== 'knownTask' ? target : undefined;
}

/** Behind the turn that a replay stands at, unless another trajectory is before the user. */
function replayedPlace(
  place: ReplayPlace | undefined,
): { readonly address: TrajectoryAddress; readonly turn: number } | undefined {
  const active = vscode.window.activeTextEditor?.document.uri;
  if (!place || (active?.scheme === Scheme.Trajectory && active.toString() !== place.debuggee.uri)) return undefined;
  const address = fromUriQuery(vscode.Uri.parse(place.debuggee.uri).query);
  // Nothing can follow the last turn; it can be played otherwise.
  return { address, turn: Math.min(place.turn + 1, place.debuggee.recorded.turns.length) };
}
