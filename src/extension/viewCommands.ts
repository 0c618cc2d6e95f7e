import * as vscode from 'vscode';
import { badInput } from '../trajectory/errors.js';
import { compareCheckpoints } from './comparison/compareCheckpoints.js';
import { addressOf, requireTrust } from './commandTargets.js';
import type { Context } from './context.js';
import { settingsSection, type ViewCommand } from './contributions.js';
import { evidenceAddress, type DoctorNode } from './doctor/doctorTree.js';
import { examine } from './doctor/examine.js';
import { noChoice } from './facets.js';
import { pickRepository, pickRun, pickTask, pickTrajectory } from './pickers.js';
import { revealTrajectory } from './revealTrajectory.js';
import { runOf, type RunOf, type RunTreeNode } from './runs/runTree.js';
import type { KnownTask, TaskTreeNode } from './tasks/taskTree.js';
import { groupOfTask, type GroupAddress } from './tree/groups.js';
import { buildTasks, verifyTask } from './tasks/verify.js';
import { t } from './translate.js';

/** What a view's command may be called with: a node of one of the views, the document of a trajectory, or nothing. */
type Target = RunTreeNode | DoctorNode | TaskTreeNode | vscode.Uri | undefined;

/** Every command of the views beside those of training and replay. */
export const viewCommands: Readonly<Record<ViewCommand, (context: Context, target: Target) => unknown>> = {
  'whetstone.examineRun': examineRun,
  'whetstone.compareCheckpoints': (context, target) => compareCheckpoints(context, runOfTarget(target)),
  'whetstone.openEvidence': openEvidence,
  'whetstone.openRemedySetting': openRemedySetting,
  'whetstone.showDashboard': ({ dashboard }, target) => dashboard.show(runOfTarget(target)),
  'whetstone.sortRuns': ({ tree }) => tree.chooseOrder(),
  'whetstone.filterRuns': ({ tree }) => tree.chooseFilter(),
  'whetstone.clearRunFilter': ({ tree }) => tree.filter(noChoice),
  'whetstone.showReward': showReward,
  'whetstone.showTree': (context, target) => withGroup(context, target, (group) => context.pictures.show(group)),
  'whetstone.showTouchedLines': (context, target) =>
    withGroup(context, target, (group) => context.touchedLines.show(group)),
  'whetstone.hideTouchedLines': ({ touchedLines }) => touchedLines.hide(),
  'whetstone.buildTasks': build,
  'whetstone.openStatement': (context, target) =>
    withTask(context, target, ({ repository, task }) =>
      context.taskDocuments.openStatement(repository.root, task.instance_id),
    ),
  'whetstone.openOracle': (context, target) => openPatch(context, target, 'oracle'),
  'whetstone.openStartPatch': (context, target) => openPatch(context, target, 'start'),
  'whetstone.verifyTask': verify,
  'whetstone.filterTasks': ({ tasks }) => tasks.chooseFilter(),
  'whetstone.clearTaskFilter': ({ tasks }) => tasks.filter(noChoice),
};

async function examineRun(context: Context, target: Target): Promise<void> {
  const run = runOfTarget(target) ?? (await pickRun(context.store, () => true, t('There is no run yet.')));
  if (run) await examine(context, run);
}

async function openEvidence({ trajectories }: Context, target: Target): Promise<void> {
  if (target instanceof vscode.Uri) return;
  const finding = target?.kind === 'evidence' ? target.parent : target;
  const address = finding?.kind === 'finding' ? evidenceAddress(finding) : undefined;
  if (finding?.kind !== 'finding' || !address) {
    throw badInput(t('This finding is about no single trajectory.'), t('Open one from the Doctor view.'));
  }
  const { token } = finding.finding.evidence;
  await revealTrajectory(trajectories, address, token === null ? undefined : { token });
}

async function openRemedySetting(_: Context, target: Target): Promise<void> {
  const settings = target && 'kind' in target && target.kind === 'remedy' ? target.settings : [];
  const query = settings.map((name) => `@id:${settingsSection}.${name}`).join(' ');
  await vscode.commands.executeCommand('workbench.action.openSettings', query || settingsSection);
}

/** Works with the group of a node, of the trajectory in the active editor, or of one that the user picks. */
async function withGroup({ store }: Context, target: Target, work: (group: GroupAddress) => unknown): Promise<void> {
  if (target && 'kind' in target && target.kind === 'task') {
    const group = groupOfTask(target);
    if (group) await work(group);
    return;
  }
  const address = addressOf(trajectoryTarget(target)) ?? (await pickTrajectory(store));
  if (!address) return;
  const { stateFolder, runId, trajectoryId } = address;
  const { kind, step, taskId } = await (await store.reader(stateFolder, runId)).trajectory(trajectoryId);
  await work({ stateFolder, runId, kind, step, taskId });
}

async function showReward({ store, rewards }: Context, target: Target): Promise<void> {
  const address = addressOf(trajectoryTarget(target)) ?? (await pickTrajectory(store));
  if (address) rewards.show(address);
}

async function build(context: Context): Promise<void> {
  requireTrust();
  const repository = await pickRepository(context.store);
  if (repository) await buildTasks(context, repository);
}

async function verify(context: Context, target: Target): Promise<void> {
  requireTrust();
  await withTask(context, target, ({ repository, task }) => verifyTask(context, repository, task.instance_id));
}

function openPatch(context: Context, target: Target, what: 'start' | 'oracle'): Promise<void> {
  return withTask(context, target, ({ repository, task }) => {
    const taskId = task.instance_id;
    const title = what === 'oracle' ? t('{0}: start ↔ oracle', taskId) : t('{0}: what makes the start tree', taskId);
    const address = { root: repository.root, taskId, runId: '', trajectoryId: '', what };
    return context.taskDocuments.openPatch(address, title);
  });
}

/** Works with the task of a node, or with one that the user picks. */
async function withTask({ tasks }: Context, target: Target, work: (known: KnownTask) => Promise<void>): Promise<void> {
  const known =
    target && 'kind' in target && target.kind === 'knownTask' ? target : await pickTask(await tasks.tasks());
  if (known) await work(known);
}

/** The target, where it can be one of the commands of trajectories. */
function trajectoryTarget(target: Target): RunTreeNode | vscode.Uri | undefined {
  if (target instanceof vscode.Uri) return target;
  return target?.kind === 'trajectory' || target?.kind === 'turn' ? target : undefined;
}

function runOfTarget(target: Target): RunOf | undefined {
  if (!target || target instanceof vscode.Uri) return undefined;
  switch (target.kind) {
    case 'examinedRun':
      return target.run;
    case 'finding':
      return target.parent.run;
    case 'evidence':
    case 'cause':
    case 'remedy':
      return target.parent.parent.run;
    case 'knownTask':
    case 'statement':
    case 'patch':
    case 'tests':
    case 'testPage':
    case 'test':
      return undefined;
    default:
      return runOf(target);
  }
}
