import { access } from 'node:fs/promises';
import path from 'node:path';
import { badInput, cancelled, infrastructure } from '../trajectory/errors.js';
import type { Task } from '../trajectory/task.js';
import type { RepositoryEnvironment } from './environment.js';
import { openRepository, type Repository } from './repo/repository.js';
import { Janitor } from './sandbox/janitorClient.js';
import { probeSandbox } from './sandbox/probeSandbox.js';
import type { Sandbox } from './sandbox/sandbox.js';
import type { SandboxChoice } from './sandbox/sandboxChoice.js';
import type { Toolchain } from './sandbox/toolchain.js';
import { detectSuites } from './testing/detectSuites.js';
import type { DetectedRunner, RunnerCheck } from './testing/testRunner.js';
import type { TestSuites } from './testing/testSuites.js';
import { BuildCaches } from './workspace/buildCaches.js';
import { chooseTrees } from './workspace/chooseTrees.js';
import { EpisodeWorkspace } from './workspace/episodeWorkspace.js';
import { RememberingWorkspace } from './workspace/rememberingWorkspace.js';
import type { RunMemory } from './workspace/runMemory.js';
import { sweepLeftovers, worktreesFolder } from './workspace/stateFolders.js';
import { Templates } from './workspace/templates.js';
import type { TreeMaker } from './workspace/treeMaker.js';
import type { FileChange, Workspace } from './workspace/workspace.js';

export interface OpenOptions {
  /** A folder in, at or just above the repository. */
  readonly path: string;
  readonly sandbox: SandboxChoice;
  /** `.whetstone/` in the repository root by default. */
  readonly stateFolder?: string;
  readonly signal?: AbortSignal;
  /** The janitor's bundle; by default the one beside this bundle. */
  readonly janitorScript?: string;
}

/**
 * Opens a repository as an environment: finds it, tries the sandbox, finds the runner and makes sure that it is installed
 * where the tests will run. Throws `badInput`, one line with a remedy, where any of these is missing.
 */
export async function openEnvironment(options: OpenOptions): Promise<RepositoryEnvironment> {
  const { signal } = options;
  const repository = await openRepository(options.path, options);
  const janitor = new Janitor();
  janitor.start(options.janitorScript);
  let trees: TreeMaker | null = null;
  try {
    await sweepLeftovers(repository.stateFolder);
    const { sandbox, toolchain } = await probeSandbox(options.sandbox, {
      repoRoot: repository.root,
      stateFolder: repository.stateFolder,
      janitor,
    });
    if (signal?.aborted) throw cancelled();
    const baseTree = await repository.captureDirtyTree(signal);
    const dependencies = await repository.dependencyFolders();
    trees = await chooseTrees(sandbox, repository.stateFolder, janitor);
    const isInUse = (template: string) => trees?.isInUse(template) ?? false;
    const templates = new Templates(repository, janitor, isInUse);
    const { node, go, cargo, java } = toolchain;
    const python = await pythonFor(repository, dependencies, toolchain);
    const programs = { node, python, go, cargo, maven: java?.maven ?? null, gradle: java?.gradle ?? null };
    const suites = await detectSuites(await templates.get(baseTree, '', signal), programs, toolchain.launcher);
    const environment = new OpenedEnvironment(
      repository,
      janitor,
      sandbox,
      suites,
      baseTree,
      templates,
      trees,
      dependencies,
    );
    await environment.leaveOutUnusable(signal).catch(async (error: unknown) => {
      await environment.dispose();
      throw error;
    });
    return environment;
  } catch (error) {
    await trees?.dispose();
    await janitor.stop();
    throw error;
  }
}

/** The repository's own virtual environment, relative to the tree; else the Python on PATH. */
async function pythonFor(
  repository: Repository,
  dependencies: readonly string[],
  toolchain: Toolchain,
): Promise<string | null> {
  const program = process.platform === 'win32' ? path.join('Scripts', 'python.exe') : path.join('bin', 'python');
  for (const folder of dependencies.filter((name) => name === '.venv' || name === 'venv')) {
    const candidate = path.join(folder, program);
    const exists = await access(path.join(repository.root, candidate)).then(
      () => true,
      () => false,
    );
    if (exists) return candidate;
  }
  return toolchain.python;
}

class OpenedEnvironment implements RepositoryEnvironment {
  private readonly open = new Set<Workspace>();
  private readonly caches: BuildCaches;
  private closed = false;

  constructor(
    readonly repository: Repository,
    private readonly janitor: Janitor,
    private readonly confinement: Sandbox,
    public suites: TestSuites,
    readonly baseTree: string,
    private readonly templates: Templates,
    private readonly trees: TreeMaker,
    private readonly dependencies: readonly string[],
  ) {
    this.caches = new BuildCaches({
      stateFolder: repository.stateFolder,
      janitor,
      remounts: confinement.remounts,
      template: () => templates.get(baseTree, ''),
      fill: (part, folder, signal) => this.fillCache(part, folder, signal),
    });
  }

  get repoRoot(): string {
    return this.repository.root;
  }
  get stateFolder(): string {
    return this.repository.stateFolder;
  }
  get sandbox(): string {
    return this.confinement.kind;
  }

  async openWorkspace(task: Task, changes: readonly FileChange[] = [], memory?: RunMemory): Promise<Workspace> {
    const { base_tree, start_patch, test_files } = task.whetstone;
    const workspace = await this.openTree(base_tree, start_patch, changes, test_files);
    return memory === undefined ? workspace : new RememberingWorkspace(workspace, memory);
  }

  openWorkspaceFromTree(baseTree: string, startPatch: string, changes: readonly FileChange[] = []): Promise<Workspace> {
    return this.openTree(baseTree, startPatch, changes, this.suites.testFiles);
  }

  /**
   * Runs each runner's own check where the tests will run, and goes on without those that fail it. Throws `badInput` where
   * none is left.
   */
  async leaveOutUnusable(signal?: AbortSignal): Promise<void> {
    const workspace = await this.openWorkspaceFromTree(this.baseTree, '');
    try {
      const failures = new Map<string, RunnerCheck>();
      const checks = new Map(
        this.suites.parts.map(({ runner: { check }, root: cwd }) => [keyOf(check, cwd), { check, cwd }]),
      );
      for (const [key, { check, cwd }] of checks) {
        const { outcome, exitCode } = await workspace.run({
          argv: check.argv,
          cwd,
          timeoutMs: 120_000,
          maxOutputBytes: 4096,
          signal,
        });
        if (signal?.aborted) throw cancelled();
        // One that does not end in time says nothing: a build tool looks at all of a large repository, on a busy machine.
        if (outcome === 'exited' && exitCode !== 0) failures.set(key, check);
      }
      if (failures.size === 0) return;
      const [first] = failures.values();
      if (failures.size === checks.size) throw badInput(first.problem, first.remedy);
      this.suites = this.suites.without(
        ({ runner: { check }, root }) => failures.has(keyOf(check, root)),
        [...failures.values()].map(({ problem, remedy }) => `${problem.message} ${remedy.message}`),
      );
    } finally {
      await workspace.dispose();
    }
  }

  private async fillCache(part: DetectedRunner, folder: string, signal?: AbortSignal): Promise<void> {
    const workspace = await this.openTree(this.baseTree, '', [], []);
    try {
      await workspace.fillCache(part, folder, signal);
    } finally {
      await workspace.dispose();
    }
  }

  async dispose(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.open].map((workspace) => workspace.dispose()));
    await this.trees.dispose();
    await this.janitor.stop();
  }

  private async openTree(
    baseTree: string,
    startPatch: string,
    changes: readonly FileChange[],
    testFiles: readonly string[],
  ): Promise<EpisodeWorkspace> {
    if (this.closed) throw infrastructure('internal: a workspace was opened in an environment that is closed.', '');
    const folder = path.join(worktreesFolder(this.stateFolder), `${process.pid}-${nextNumber()}`);
    const workspace = await EpisodeWorkspace.open(
      {
        sandbox: this.confinement,
        janitor: this.janitor,
        suites: this.suites,
        repoRoot: this.repoRoot,
        folder,
        template: () => this.templates.get(baseTree, startPatch),
        trees: this.trees,
        dependencies: this.dependencies,
        caches: this.caches,
        testFiles,
        onDispose: (disposed) => this.open.delete(disposed),
      },
      changes,
    );
    this.open.add(workspace);
    return workspace;
  }
}

const keyOf = ({ argv }: RunnerCheck, cwd: string) => JSON.stringify([cwd, argv]);

/** Counts through the whole process: several environments of it may share one state folder. */
const nextNumber = (() => {
  let last = 0;
  return () => (last += 1);
})();
