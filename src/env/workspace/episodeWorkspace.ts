import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, symlink, writeFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { cancelled, infrastructure } from '../../trajectory/errors.js';
import { explainFileError } from '../repo/git.js';
import type { Janitor } from '../sandbox/janitorClient.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import type { Mount, Sandbox, SandboxCommand, SandboxResult, SandboxView } from '../sandbox/sandbox.js';
import { keyName } from '../testing/resultsProof.js';
import { mergeReports } from '../testing/mergeReports.js';
import type { DetectedRunner, TestReport } from '../testing/testRunner.js';
import type { Selection, TestSuites } from '../testing/testSuites.js';
import type { BuildCaches, CacheView } from './buildCaches.js';
import { ignoredIn, treeChanges } from './treeChanges.js';
import { treeState, type TreeState } from './treeState.js';
import type { TreeMaker, WritableTree } from './treeMaker.js';
import { layOver } from './layOver.js';
import type { FileChange, TestOptions, Workspace } from './workspace.js';

const defaultTestTimeoutMs = 300_000;
const testOutputBytes = 1024 * 1024;
/** Stands for the folder of results, which is another in each run. */
const resultsTarget = '/tmp/results';
const cacheTimeoutMs = 20 * 60_000;

export interface WorkspaceParts {
  readonly sandbox: Sandbox;
  readonly janitor: Janitor;
  readonly suites: TestSuites;
  readonly repoRoot: string;
  /** The episode's own folder, deleted as a whole at the end. */
  readonly folder: string;
  /** Path of the start tree; a function, since an old template may have been deleted and is then made again. */
  readonly template: () => Promise<string>;
  readonly trees: TreeMaker;
  /** Folders of installed dependencies in the user's tree, relative to the root, with `/`. */
  readonly dependencies: readonly string[];
  readonly caches: BuildCaches;
  /** Files that `runTests` runs unless told otherwise. */
  readonly testFiles: readonly string[];
  readonly onDispose: (workspace: Workspace) => void;
}

/** A start tree of its own, in a folder under `.whetstone/worktrees`. */
export class EpisodeWorkspace implements Workspace {
  readonly root: string;
  readonly mountPath: string;
  readonly sandbox: string;
  private disposal: Promise<void> | null = null;
  private readonly closing = new AbortController();
  private readonly running = new Set<Promise<void>>();
  private readonly cacheViews = new Map<string, Promise<CacheView>>();

  private constructor(
    private readonly parts: WorkspaceParts,
    private readonly tree: WritableTree,
  ) {
    this.root = tree.root;
    this.sandbox = parts.sandbox.kind;
    this.mountPath = this.remounts ? parts.repoRoot : this.root;
  }

  static async open(parts: WorkspaceParts, changes: readonly FileChange[]): Promise<EpisodeWorkspace> {
    parts.janitor.addFolder(parts.folder);
    let tree: WritableTree;
    try {
      await mkdir(parts.folder, { recursive: true });
      tree = await parts.trees.make(await parts.template(), parts.folder);
    } catch (error) {
      await removeFolder(parts.folder);
      parts.janitor.removeFolder(parts.folder);
      throw explainFileError(error, 'write', parts.folder);
    }
    const workspace = new EpisodeWorkspace(parts, tree);
    try {
      for (const change of changes) await layOver(workspace.root, change);
      if (!workspace.remounts) await workspace.linkDependencies();
      return workspace;
    } catch (error) {
      await workspace.dispose();
      throw explainFileError(error, 'write', parts.folder);
    }
  }

  async run(command: Omit<SandboxCommand, 'cwd'> & { cwd?: string }): Promise<SandboxResult> {
    const caches = () =>
      Promise.all(this.parts.suites.parts.map((part) => this.cacheOf(part, (of) => this.parts.caches.peek(of))));
    return this.runIn({ ...command, cwd: command.cwd ?? '.' }, [], caches);
  }

  async runTests(options: TestOptions = {}): Promise<TestReport> {
    const { timeoutMs = defaultTestTimeoutMs, signal } = options;
    const files = await this.existing(options.files ?? this.parts.testFiles);
    const reports: TestReport[] = [];
    for (const selection of this.parts.suites.select(files)) {
      const spent = reports.reduce((sum, { durationMs }) => sum + durationMs, 0);
      const report = await this.runSelection(selection, Math.max(1, timeoutMs - spent), signal);
      reports.push(report);
      if (report.outcome === 'timed-out') break;
    }
    return mergeReports(reports);
  }

  private async runSelection(
    { detected, files }: Selection,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<TestReport> {
    // Code under test that finds the folder and forges results there lacks the key, which the runner takes away first.
    const name = `results-${randomBytes(12).toString('hex')}`;
    const results = path.join(this.parts.folder, name);
    await mkdir(results);
    const key = randomBytes(32).toString('hex');
    await writeFile(path.join(results, keyName), key);
    const target = this.remounts ? `/tmp/${name}` : results;
    try {
      const { argv, env } = detected.runner.command(detected, files, target);
      const run = await this.runIn(
        { argv, env, cwd: detected.root, timeoutMs, maxOutputBytes: testOutputBytes, signal },
        [{ source: results, target }],
        async () => [await this.cacheOf(detected, (part) => this.parts.caches.get(part, signal))],
      );
      const report = { output: run.output, durationMs: run.durationMs };
      if (run.outcome === 'cancelled') throw cancelled();
      const parsed = await detected.runner.parse(results, detected, this.mountPath, key);
      if (run.outcome === 'timed-out') return { ...report, outcome: 'timed-out', results: parsed ?? [] };
      if (parsed === null) return { ...report, outcome: 'crashed', results: [] };
      return { ...report, outcome: parsed.length === 0 ? 'no-tests' : 'completed', results: parsed };
    } finally {
      await removeFolder(results);
    }
  }

  /** Fills a runner's cache, in `folder`, from this tree. A tree that is not built whole fills what it can. */
  async fillCache(part: DetectedRunner, folder: string, signal?: AbortSignal): Promise<void> {
    const { cache } = part.runner;
    if (!cache) return;
    const limits = { timeoutMs: cacheTimeoutMs, maxOutputBytes: 4096, signal };
    const command = { ...cache.fill(part), cwd: part.root, ...limits };
    const view = this.parts.caches.view(cache, folder);
    const { outcome } = await this.runIn(command, [], () => Promise.resolve([view]));
    if (outcome === 'cancelled') throw cancelled();
  }

  async changes(): Promise<FileChange[]> {
    const { differences } = this.tree;
    return treeChanges(await this.parts.template(), this.root, this.parts.dependencies, differences);
  }

  /** All in which the tree differs from its template. */
  async state(): Promise<TreeState> {
    return treeState(await this.parts.template(), this.root, this.parts.dependencies, this.tree.differences);
  }

  /** What decides a run of the tests beside the tree's differences from its template, to be compared with that of others. */
  async testPlan(options: TestOptions = {}): Promise<readonly unknown[]> {
    const files = await this.existing(options.files ?? this.parts.testFiles);
    const commands = this.parts.suites
      .select(files)
      .map(({ detected, files: chosen }) => [
        detected.runner.name,
        detected.root,
        chosen,
        detected.runner.command(detected, chosen, resultsTarget),
      ]);
    const { repoRoot, dependencies } = this.parts;
    return [await this.parts.template(), repoRoot, dependencies, this.sandbox, files, commands];
  }

  /** Does something of its earlier runs lie outside of the tree, where later ones find it? */
  get hasOwnCaches(): boolean {
    return this.cacheViews.size > 0;
  }

  async ignored(files: readonly string[]): Promise<ReadonlySet<string>> {
    const template = await this.parts.template();
    const isNew = await Promise.all(
      files.map((file) =>
        lstat(path.join(template, ...file.split('/'))).then(
          () => false,
          () => true,
        ),
      ),
    );
    return ignoredIn(
      template,
      files.filter((_, index) => isNew[index]),
    );
  }

  dispose(): Promise<void> {
    this.disposal ??= this.remove();
    return this.disposal;
  }

  private async remove(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.running);
    await this.tree.release();
    await removeFolder(this.parts.folder);
    this.parts.janitor.removeFolder(this.parts.folder);
    this.parts.onDispose(this);
  }

  private get remounts(): boolean {
    return this.parts.sandbox.remounts;
  }

  /** This workspace's own view of a runner's cache, made once; null where there is none. */
  private async cacheOf(
    part: DetectedRunner,
    find: (part: DetectedRunner) => Promise<string | null>,
  ): Promise<CacheView | null> {
    const { cache } = part.runner;
    if (!cache) return null;
    const filled = this.cacheViews.has(cache.name) ? '' : await find(part);
    if (filled === null) return null;
    const view =
      this.cacheViews.get(cache.name) ??
      this.parts.caches.open(cache, filled, path.join(this.parts.folder, `cache-${cache.name}`));
    this.cacheViews.set(cache.name, view);
    return view;
  }

  private runIn(
    command: SandboxCommand,
    writable: readonly Mount[],
    findCaches: () => Promise<readonly (CacheView | null)[]>,
  ): Promise<SandboxResult> {
    const signals = [this.closing.signal, ...(command.signal ? [command.signal] : [])];
    const running = this.runToEnd({ ...command, signal: AbortSignal.any(signals) }, writable, findCaches);
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.running.add(settled);
    void settled.then(() => this.running.delete(settled));
    return running;
  }

  private async runToEnd(
    command: SandboxCommand,
    writable: readonly Mount[],
    findCaches: () => Promise<readonly (CacheView | null)[]>,
  ): Promise<SandboxResult> {
    if (this.disposal) throw infrastructure('internal: a command was started in a workspace that is closed.', '');
    const caches = (await findCaches()).filter((cache) => cache !== null);
    const env = Object.assign({}, ...caches.map((cache) => cache.env), command.env) as Record<string, string>;
    const view: SandboxView = {
      worktree: this.tree.worktree,
      enter: this.tree.enter,
      mountPath: this.mountPath,
      readOnly: [
        ...(this.remounts ? await this.dependencyMounts() : this.linkedDependencies()),
        ...caches.flatMap(({ readOnly }) => readOnly),
      ],
      writable: [...writable, ...caches.flatMap((cache) => cache.writable)],
    };
    await makeEnterable(this.root, command.cwd);
    return this.parts.sandbox.run(view, { ...command, env });
  }

  /** Only where the tree leaves room: the agent may have put a link or a file in the place, which a mount would follow. */
  private async dependencyMounts(): Promise<Mount[]> {
    const mounts: Mount[] = [];
    for (const dependency of this.parts.dependencies) {
      if (!(await hasRoomFor(this.root, dependency))) continue;
      mounts.push({
        source: path.join(this.parts.repoRoot, dependency),
        target: path.join(this.mountPath, dependency),
      });
    }
    return mounts;
  }

  private linkedDependencies(): Mount[] {
    return this.parts.dependencies.map((dependency) => ({
      source: path.join(this.parts.repoRoot, dependency),
      target: path.join(this.root, dependency),
    }));
  }

  private async linkDependencies(): Promise<void> {
    for (const dependency of this.parts.dependencies) {
      if (!(await hasRoomFor(this.root, dependency))) continue;
      const type = process.platform === 'win32' ? 'junction' : 'dir';
      await rm(path.join(this.root, dependency), { recursive: true, force: true });
      await symlink(path.join(this.parts.repoRoot, dependency), path.join(this.root, dependency), type);
    }
  }

  private async existing(files: readonly string[]): Promise<string[]> {
    const kept = await Promise.all(
      files.map((file) =>
        lstat(path.join(this.root, ...file.split('/'))).then(
          (found) => found.isFile(),
          () => false,
        ),
      ),
    );
    return files.filter((_, index) => kept[index]);
  }
}

/** Gives back the right to enter the folder where a command starts, which a command before may have taken away. */
async function makeEnterable(root: string, folder: string): Promise<void> {
  let place = root;
  for (const part of ['.', ...folder.split(/[\\/]/)]) {
    place = path.join(place, part);
    const found = await lstat(place).catch(() => null);
    if (!found?.isDirectory()) return;
    if ((found.mode & 0o700) !== 0o700) await chmod(place, found.mode | 0o700);
  }
}

/** Do the folders above exist as folders, and is the place itself free or an empty folder? */
async function hasRoomFor(root: string, dependency: string): Promise<boolean> {
  const parts = dependency.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const above = await lstat(path.join(root, ...parts.slice(0, length))).catch(() => null);
    if (!above?.isDirectory()) return false;
  }
  const place = path.join(root, ...parts);
  const found = await lstat(place).catch(() => null);
  if (found === null) return true;
  return found.isDirectory() && (await readdir(place)).length === 0;
}
