import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Finding } from '../../trainer/doctor/finding.js';
import { runsFolder } from '../../trainer/run/runDirectory.js';
import type { RunReader } from '../../trainer/run/runReader.js';
import type { View } from '../contributions.js';
import { Lifetime } from '../lifetime.js';
import { findRepositories, type Repository } from '../repositories.js';
import { findingsOf } from './foundFindings.js';
import { glance, type Glance } from './glance.js';
import type { RunOf } from './runTree.js';

const settleMilliseconds = 250;
const lookMilliseconds = 2000;

/** The runs of the window's repositories, read from their directories; tells when something was written to them. */
export class RunStore implements vscode.Disposable {
  private readonly lifetime = new Lifetime('run store');
  private readonly changed = this.lifetime.add(new vscode.EventEmitter<void>());
  private readonly readers = new Map<string, Promise<RunReader>>();
  /** Finished runs, by their folder; nothing but a resume changes them. */
  private over = new Map<string, RunOf>();
  /** How each state folder looked when its runs were last listed. */
  private readonly glances = new Map<string, Glance>();
  private found?: Promise<readonly Repository[]>;
  private listed?: Promise<readonly RunOf[]>;
  private watchers = this.lifetime.child('watchers');
  private settling?: NodeJS.Timeout;
  /** How often each run's folder was called stale, so that what was read of it before is not kept. */
  private readonly touches = new Map<string, number>();
  /** What examinations of whole records found, by the run's folder. */
  private readonly examined = new Map<string, readonly Finding[]>();
  /** Views of the runs that the user has before them. */
  private readonly viewers = new Set<View>();
  private looking = this.lifetime.child('next look');

  readonly onDidChange = this.changed.event;

  constructor() {
    this.lifetime.add(vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()));
    this.lifetime.add({ dispose: () => clearTimeout(this.settling) });
  }

  repositories(): Promise<readonly Repository[]> {
    this.found ??= this.findAndWatch();
    return this.found;
  }

  /** All runs, the newest first. */
  runs(): Promise<readonly RunOf[]> {
    this.listed ??= this.list();
    return this.listed;
  }

  /** A reader that remembers what it has read; throws bad-input where there is no such run. */
  reader(stateFolder: string, runId: string): Promise<RunReader> {
    const key = JSON.stringify([stateFolder, runId]);
    const reader = this.readers.get(key) ?? openReader(stateFolder, runId);
    this.readers.set(key, reader);
    reader.catch(() => this.readers.delete(key));
    return reader;
  }

  /** Looks for repositories and runs anew. */
  refresh(): void {
    this.found = undefined;
    this.readers.clear();
    this.over = new Map();
    this.touch();
  }

  /** Something was written (to a run's folder): what was listed is stale. Many calls in a row make one event. */
  touch(runFolder: string | null = null): void {
    if (runFolder !== null) {
      this.over.delete(runFolder);
      this.touches.set(runFolder, (this.touches.get(runFolder) ?? 0) + 1);
    }
    this.listed = undefined;
    this.settling ??= setTimeout(() => {
      this.settling = undefined;
      this.listed = undefined;
      this.changed.fire();
    }, settleMilliseconds);
  }

  /**
   * Whether the user has the runs in view. As long as that is so, or a training lives, they are looked at every other
   * second beside what file events tell: those come late or never on a busy machine or on a network drive.
   */
  watch(view: View, isVisible: boolean): void {
    if (isVisible) this.viewers.add(view);
    else this.viewers.delete(view);
    if (isVisible) this.lookSoon(0);
  }

  /** Remembers what an examination of a run's whole record found. */
  keepExamination(runFolder: string, findings: readonly Finding[]): void {
    this.examined.set(runFolder, findings);
    this.touch(runFolder);
  }

  dispose(): void {
    this.lifetime.dispose();
  }

  private lookSoon(milliseconds = lookMilliseconds): void {
    this.looking.dispose();
    this.looking = this.lifetime.child('next look');
    const timer = setTimeout(() => void this.look().catch(() => undefined), milliseconds);
    this.looking.add({ dispose: () => clearTimeout(timer) });
  }

  private async look(): Promise<void> {
    let isAnyLive = false;
    try {
      const repositories = await this.repositories();
      isAnyLive = (await Promise.all(repositories.map((repository) => this.lookAt(repository)))).includes(true);
    } finally {
      if (isAnyLive || this.viewers.size > 0) this.lookSoon();
    }
  }

  /** Tells of whatever has changed since the listing; true where a training lives. */
  private async lookAt({ stateFolder }: Repository): Promise<boolean> {
    const [before, now] = [this.glances.get(stateFolder), await glance(stateFolder)];
    if (before && before.text !== now.text) [before.live, now.live].forEach((folder) => this.touch(folder));
    return now.live !== null;
  }

  private async findAndWatch(): Promise<readonly Repository[]> {
    const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === 'file');
    const lists = await Promise.all(folders.map((folder) => findRepositories(folder.uri.fsPath)));
    const byRoot = new Map(lists.flat().map((repository) => [repository.root, repository]));
    const repositories = [...byRoot.values()];
    for (const { stateFolder } of repositories) await cleanUp(stateFolder);
    this.watchers.dispose();
    this.watchers = this.lifetime.child('watchers');
    for (const { root } of repositories) {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(root), '.whetstone/runs/*/*.{json,jsonl}');
      const watcher = this.watchers.add(vscode.workspace.createFileSystemWatcher(pattern));
      for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) {
        this.watchers.add(event(({ fsPath }) => this.touch(path.dirname(fsPath))));
      }
    }
    return repositories;
  }

  private async list(): Promise<readonly RunOf[]> {
    const lists = await Promise.all((await this.repositories()).map((repository) => this.runsOf(repository)));
    return lists.flat().sort((a, b) => b.summary.createdAt.localeCompare(a.summary.createdAt));
  }

  private async runsOf(repository: Repository): Promise<RunOf[]> {
    const { stateFolder } = repository;
    const seen = await glance(stateFolder);
    this.glances.set(stateFolder, seen);
    if (seen.live !== null) this.lookSoon();
    const names = await readdir(runsFolder(stateFolder)).catch(() => []);
    const runs = await Promise.all(
      names.map(async (id) => {
        // A folder that is no run, or one that was just deleted, is left out.
        return this.runOf(repository, id).catch(() => undefined);
      }),
    );
    return runs.filter((run) => run !== undefined);
  }

  private async runOf(repository: Repository, id: string): Promise<RunOf> {
    const folder = path.join(runsFolder(repository.stateFolder), id);
    const known = this.over.get(folder);
    if (known) return known;
    const [over, touches] = [this.over, this.touches.get(folder)];
    const reader = await this.reader(repository.stateFolder, id);
    const summary = await reader.summary();
    const run = { repository, summary, findings: findingsOf(await reader.events(), this.examined.get(folder)) };
    const isFinished = ['completed', 'stopped', 'failed'].includes(summary.status);
    if (isFinished && touches === this.touches.get(folder)) over.set(folder, run);
    return run;
  }
}

/** What killed trainings left behind is cleared away at the first look. */
async function cleanUp(stateFolder: string): Promise<void> {
  if (!existsSync(runsFolder(stateFolder))) return;
  const { cleanUpAfterKilled } = await import('../engine.js');
  await cleanUpAfterKilled(stateFolder);
}

/** The reading code, with its checks of every record, is only loaded once there is a run to read. */
async function openReader(stateFolder: string, runId: string): Promise<RunReader> {
  const { openRun } = await import('../engine.js');
  return openRun(stateFolder, runId);
}
