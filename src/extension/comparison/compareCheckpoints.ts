import * as vscode from 'vscode';
import type { BrokenCheckpoint } from '../../trainer/run/checkpoints.js';
import type { RunSummary } from '../../trainer/run/runRecord.js';
import { badInput, type WhetstoneError } from '../../trajectory/errors.js';
import { requireTrust } from '../commandTargets.js';
import type { Context } from '../context.js';
import { pickRepository } from '../pickers.js';
import { withCancellableProgress } from '../progress.js';
import { pickOne } from '../quickPick.js';
import type { Repository } from '../repositories.js';
import { shortTime } from '../runs/runTreeItem.js';
import type { RunOf } from '../runs/runTree.js';
import { chosenSettings } from '../training/chosenSettings.js';
import { t } from '../translate.js';
import { comparisonText } from './comparisonText.js';

/** A policy as `whetstone eval` is told of it. */
interface Policy extends vscode.QuickPickItem {
  /** `RUN:STEP`, or a model. */
  readonly name: string;
  /** What is wrong with it. */
  readonly error?: WhetstoneError;
}

const embeddedModel = 'embedded';

/**
 * Plays the held-out tasks with two policies and shows what differs: a checkpoint of a run, and another of that or another run, or
 * the embedded policy. The checkpoints of `run` are offered first; whoever picks a broken one is told what is wrong with it.
 */
export async function compareCheckpoints(context: Context, run: RunOf | undefined): Promise<void> {
  requireTrust();
  const repository = run?.repository ?? (await pickRepository(context.store));
  if (!repository) return;
  const checkpoints = await checkpointsOf(context, repository, run);
  if (checkpoints.length === 0) throw badInput(t('No run has a checkpoint yet.'), t('Let a training make one.'));
  const later = await pickPolicy(checkpoints, t('Checkpoint to compare'));
  if (!later) return;
  const embedded = {
    name: embeddedModel,
    label: embeddedModel,
    description: t('the policy that comes with Whetstone'),
  };
  const others = [...checkpoints.filter(({ name }) => name !== later.name), embedded];
  const earlier = await pickPolicy(others, t('Compare {0} with', later.label));
  if (earlier) await compare(context, repository, later, earlier);
}

/** Throws what is wrong with the chosen one where it is broken. */
async function pickPolicy(policies: readonly Policy[], title: string): Promise<Policy | undefined> {
  const policy = await pickOne(policies, { title });
  if (policy?.error) throw policy.error;
  return policy;
}

async function compare(context: Context, { root }: Repository, later: Policy, earlier: Policy): Promise<void> {
  const { comparedSchema, runCli } = await import('../engine.js');
  const { sandbox, device } = chosenSettings(vscode.Uri.file(root));
  const chosen = Object.entries({ sandbox, device }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  const args = ['eval', '--json', '--repo', root, ...chosen, '--run', later.name, '--against', earlier.name];
  const title = t('Playing the held-out tasks with {0} and {1}', later.label, earlier.label);
  const compared = await withCancellableProgress(title, context.lifetime, (signal, onProgress) =>
    runCli({ cli: context.cli, repoRoot: root, args, onProgress }, comparedSchema, signal),
  );
  await context.comparisons.show(comparisonText(later.label, earlier.label, compared));
}

/** Every checkpoint of the repository's runs, the newest first; those of `first` before the others. */
async function checkpointsOf(
  { store }: Context,
  { root }: Repository,
  first: RunOf | undefined,
): Promise<readonly Policy[]> {
  const { findCheckpoints, stepOf } = await import('../engine.js');
  const runs = (await store.runs()).filter(({ repository }) => repository.root === root);
  const isFirst = ({ summary }: RunOf) => Number(summary.id === first?.summary.id);
  const lists = await Promise.all(
    [...runs]
      .sort((a, b) => isFirst(b) - isFirst(a))
      .map(async ({ repository, summary }) => {
        const { paths } = await store.reader(repository.stateFolder, summary.id);
        const found = await findCheckpoints(paths.checkpoints);
        return found.reverse().map((one) => policyOf(summary, stepOf(one), 'error' in one ? one : undefined));
      }),
  );
  return lists.flat();
}

function policyOf({ id, createdAt }: RunSummary, step: number, broken: BrokenCheckpoint | undefined): Policy {
  return {
    name: `${id}:${step}`,
    label: `${shortTime(createdAt)} · ${t('step {0}', step)}`,
    description: id,
    ...(broken && {
      detail: t('Broken: {0}', broken.problem),
      iconPath: new vscode.ThemeIcon('warning'),
      error: broken.error,
    }),
  };
}
