import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { badInput } from '../../trajectory/errors.js';
import { requireTrust } from '../commandTargets.js';
import { PanelType } from '../contributions.js';
import type { Lifetime } from '../lifetime.js';
import { Panels } from '../pages/panels.js';
import { withCancellableProgress } from '../progress.js';
import { revealTrajectory } from '../revealTrajectory.js';
import type { RunStore } from '../runs/runStore.js';
import type { TaskDocuments } from '../tasks/taskDocuments.js';
import type { TrajectoryDocuments } from '../trajectory/trajectoryDocuments.js';
import type { TrajectoryAddress } from '../trajectory/trajectoryAddress.js';
import { fromUriQuery, toUriParts } from '../trajectory/trajectoryAddress.js';
import { alignedPieces } from './alignedPieces.js';
import type { FromReward, ToReward } from './rewardMessages.js';
import { rewardReport, type GradedAgain } from './rewardReport.js';
import { t } from '../translate.js';

interface RewardContext {
  readonly lifetime: Lifetime;
  readonly log: vscode.LogOutputChannel;
  readonly store: RunStore;
  readonly trajectories: TrajectoryDocuments;
  readonly taskDocuments: TaskDocuments;
  /** The bundled command line. */
  readonly cli: string;
}

/** Characters of a file on both sides, before and after: what the host aligns while it answers nothing else. */
const mostAligned = 400_000;

/** Why a trajectory got its reward: a panel for each. */
export class RewardDebugger implements vscode.Disposable {
  private readonly panels: Panels<ToReward, FromReward>;
  /** Grades that were made again in this window, by the panel. */
  private readonly again = new Map<string, GradedAgain>();

  constructor(
    private readonly context: RewardContext,
    extensionUri: vscode.Uri,
  ) {
    const titleOf = (key: string) => t('Reward of {0}', fromUriQuery(key).trajectoryId);
    const receive = (key: string, message: FromReward) => this.answer(key, message);
    const kind = { type: PanelType.Reward, page: 'reward', titleOf, receive };
    this.panels = new Panels(kind, extensionUri, context.log);
  }

  show(address: TrajectoryAddress): void {
    this.panels.show(toUriParts(address).query);
  }

  dispose(): void {
    this.panels.dispose();
  }

  private async answer(key: string, message: FromReward): Promise<void> {
    const address = fromUriQuery(key);
    switch (message.type) {
      case 'ready':
        return this.send(key);
      case 'compare':
        return this.compare(address);
      case 'align':
        return this.align(key, message.path);
      case 'gradeAgain':
        return this.gradeAgain(key);
      case 'openTrajectory':
        return revealTrajectory(this.context.trajectories, address, undefined, {
          viewColumn: vscode.ViewColumn.Beside,
        });
    }
  }

  private async send(key: string): Promise<void> {
    const { trajectory, task } = await this.look(fromUriQuery(key));
    this.panels.post(key, { type: 'report', key, report: rewardReport(trajectory, task, this.again.get(key)) });
  }

  private async look({ stateFolder, runId, trajectoryId }: TrajectoryAddress) {
    const reader = await this.context.store.reader(stateFolder, runId);
    const [trajectory, tasks] = await Promise.all([reader.trajectory(trajectoryId), reader.tasks()]);
    return { trajectory, task: tasks.find(({ instance_id }) => instance_id === trajectory.taskId) };
  }

  /** Sends how the changes of a file are aligned. Throws bad-input where they are too long to be drawn. */
  private async align(key: string, file: string): Promise<void> {
    const address = fromUriQuery(key);
    const { trajectory } = await this.look(address);
    const { alignmentOf } = await import('../engine.js');
    const patch = this.patchAddress(address, trajectory.taskId);
    const { taskDocuments } = this.context;
    const [predicted, oracle] = await Promise.all(
      (['predicted', 'oracle'] as const).map((what) => taskDocuments.changesOf({ ...patch, what })),
    );
    const changed = [...predicted, ...oracle].filter((change) => change.path === file);
    const size = changed.reduce((sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0), 0);
    if (size > mostAligned)
      throw badInput(t('{0} is too long to be drawn.', file), t('Compare it in the diff editor.'));
    const { blocks, ...texts } = alignmentOf(predicted, oracle, file);
    const pieces = {
      predicted: alignedPieces(
        texts.predicted,
        blocks.map(({ a: start, length }) => ({ start, length })),
      ),
      oracle: alignedPieces(
        texts.oracle,
        blocks.map(({ b: start, length }) => ({ start, length })),
      ),
    };
    this.panels.post(key, { type: 'alignment', file: { path: file, ...pieces } });
  }

  private patchAddress({ stateFolder, runId, trajectoryId }: TrajectoryAddress, taskId: string) {
    return { root: path.dirname(stateFolder), runId, trajectoryId, taskId };
  }

  private async compare(address: TrajectoryAddress): Promise<void> {
    const { trajectory } = await this.look(address);
    await this.context.taskDocuments.openPrediction(this.patchAddress(address, trajectory.taskId));
  }

  /** Grades the recorded patch in a fresh tree, and runs the tests of the start tree, in processes of their own. */
  private async gradeAgain(key: string): Promise<void> {
    requireTrust();
    const address = fromUriQuery(key);
    const { trajectory } = await this.look(address);
    const { gradeSchema, runCli, testedTaskSchema } = await import('../engine.js');
    const repoRoot = path.dirname(address.stateFolder);
    const folder = await mkdtemp(path.join(tmpdir(), 'whetstone-grade-'));
    this.panels.post(key, { type: 'grading', isOn: true });
    try {
      const patch = path.join(folder, 'predicted.patch');
      await writeFile(patch, trajectory.patch);
      const args = ['grade', '--json', '--repo', repoRoot, '--task', trajectory.taskId, '--patch', patch];
      const title = t('Grading {0} again', address.trajectoryId);
      const { cli, lifetime } = this.context;
      const start = ['tasks', 'test', '--json', '--repo', repoRoot, '--tree', 'start', '--', trajectory.taskId];
      const again = await withCancellableProgress(title, lifetime, async (signal, onProgress) => {
        const grade = await runCli({ cli, repoRoot, args }, gradeSchema, signal);
        onProgress(t('Running the tests of the start tree'));
        const { tests } = await runCli({ cli, repoRoot, args: start }, testedTaskSchema, signal);
        return { grade, before: new Map(tests.map(({ id, message }) => [id, message])) };
      });
      this.again.set(key, again);
      await this.send(key);
    } finally {
      this.panels.post(key, { type: 'grading', isOn: false });
      await rm(folder, { recursive: true, force: true });
    }
  }
}
