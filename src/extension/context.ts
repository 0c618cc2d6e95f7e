import path from 'node:path';
import * as vscode from 'vscode';
import { Comparisons } from './comparison/comparisons.js';
import { ContextKey } from './contributions.js';
import { setContextKey } from './contextKeys.js';
import { Dashboard } from './dashboard/dashboard.js';
import { DoctorTree } from './doctor/doctorView.js';
import { ReplayFiles } from './debug/replayFiles.js';
import { ReplaySessions } from './debug/replaySessions.js';
import type { Lifetime } from './lifetime.js';
import { ReplayDocuments } from './replay/replayDocuments.js';
import { RewardDebugger } from './reward/rewardDebugger.js';
import { RunStore } from './runs/runStore.js';
import { RunsTree } from './runs/runsView.js';
import { TaskDocuments } from './tasks/taskDocuments.js';
import { TasksTree } from './tasks/tasksView.js';
import { TaskTests } from './tasks/taskTests.js';
import { TakeOvers } from './takeover/takeOver.js';
import { TouchedLines } from './tree/touchedLinesView.js';
import { TreePictures } from './tree/treePictures.js';
import { isAlive, Trainings } from './training/trainings.js';
import { TokenDecorations } from './trajectory/tokenDecorations.js';
import { TokenStatus } from './trajectory/tokenStatus.js';
import { TrajectoryDiagnostics } from './trajectory/trajectoryDiagnostics.js';
import { TrajectoryDocuments } from './trajectory/trajectoryDocuments.js';

/** What commands work with, for as long as the extension is active. */
export interface Context {
  readonly lifetime: Lifetime;
  readonly log: vscode.LogOutputChannel;
  readonly store: RunStore;
  readonly tree: RunsTree;
  readonly doctor: DoctorTree;
  readonly tasks: TasksTree;
  readonly taskDocuments: TaskDocuments;
  readonly taskTests: TaskTests;
  readonly dashboard: Dashboard;
  readonly rewards: RewardDebugger;
  readonly pictures: TreePictures;
  readonly touchedLines: TouchedLines;
  readonly takeOvers: TakeOvers;
  readonly trainings: Trainings;
  readonly trajectories: TrajectoryDocuments;
  readonly decorations: TokenDecorations;
  readonly tokenStatus: TokenStatus;
  readonly diagnostics: TrajectoryDiagnostics;
  readonly replays: ReplayDocuments;
  readonly comparisons: Comparisons;
  readonly replaySessions: ReplaySessions;
  readonly replayFiles: ReplayFiles;
  /** The bundled command line. */
  readonly cli: string;
}

/** @param memory what the editor keeps for the workspace */
export function createContext(extensionPath: string, lifetime: Lifetime, memory: vscode.Memento): Context {
  const log = lifetime.add(vscode.window.createOutputChannel('Whetstone', { log: true }));
  const store = lifetime.add(new RunStore());
  const trajectories = lifetime.add(
    new TrajectoryDocuments(store, path.join(extensionPath, 'media', 'embedded-policy')),
  );
  lifetime.add(store.onDidChange(() => void updateContextKeys(store).catch((error) => log.error(String(error)))));
  const cli = path.join(extensionPath, 'dist', 'cli.cjs');
  const replaySessions = lifetime.add(new ReplaySessions(store, trajectories, cli));
  const tasks = lifetime.add(new TasksTree(store, memory));
  const taskDocuments = lifetime.add(new TaskDocuments(store));
  const extensionUri = vscode.Uri.file(extensionPath);
  const rewards = lifetime.add(
    new RewardDebugger({ store, trajectories, taskDocuments, lifetime, log, cli }, extensionUri),
  );
  const touchedLines = lifetime.add(new TouchedLines(store, taskDocuments));
  return {
    lifetime,
    log,
    store,
    tree: lifetime.add(new RunsTree(store, memory)),
    doctor: new DoctorTree(store),
    tasks,
    taskDocuments,
    taskTests: lifetime.add(new TaskTests({ log, store, tasks, cli })),
    dashboard: lifetime.add(new Dashboard({ store, trajectories, log }, extensionUri)),
    rewards,
    pictures: lifetime.add(new TreePictures({ store, trajectories, rewards, log }, touchedLines, extensionUri)),
    touchedLines,
    takeOvers: lifetime.add(new TakeOvers({ lifetime, store, trajectories, cli })),
    trainings: lifetime.add(new Trainings(store, log)),
    trajectories,
    decorations: lifetime.add(new TokenDecorations(trajectories)),
    tokenStatus: lifetime.add(new TokenStatus(trajectories)),
    diagnostics: lifetime.add(new TrajectoryDiagnostics(trajectories)),
    replays: lifetime.add(new ReplayDocuments()),
    comparisons: lifetime.add(new Comparisons()),
    replaySessions,
    replayFiles: lifetime.add(new ReplayFiles(replaySessions)),
    cli,
  };
}

async function updateContextKeys(store: RunStore): Promise<void> {
  const runs = await store.runs();
  setContextKey(ContextKey.HasRuns, runs.length > 0);
  setContextKey(
    ContextKey.Training,
    runs.some(({ summary }) => isAlive(summary)),
  );
  setContextKey(
    ContextKey.Resumable,
    runs.some(({ summary }) => isResumable(summary.status)),
  );
}

/** A run that can go on: one that waits, or whose process ended before its work did. */
export const isResumable = (status: string) => ['paused', 'stopped', 'failed', 'interrupted'].includes(status);
