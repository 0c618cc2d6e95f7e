import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rmdir, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { Janitor } from '../sandbox/janitorClient.js';
import { removeFolder } from '../sandbox/removeFolder.js';
import type { TreeMaker, WritableTree } from './treeMaker.js';

const run = promisify(execFile);
const mountMilliseconds = 20_000;
const mountPauseMs = 500;

/**
 * Lays a writable folder over the template with Linux's overlayfs: a tree of any size is there in milliseconds, and only
 * what is changed takes room. Without the superuser's rights, mounting takes a user and mount namespace of one's own, which a
 * process holds open that does nothing else and ends with this one. This process sees the trees through
 * `/proc/<holder>/root`; commands enter the namespace with nsenter.
 */
export class OverlayTrees implements TreeMaker {
  private readonly used = new Map<string, number>();

  private constructor(
    private readonly holder: ChildProcess,
    private readonly pid: number,
  ) {}

  /**
   * Null where this machine cannot, tried out under `stateFolder`, on whose file system the trees will lie. `isReached`
   * tries a tree whose only file holds `after` from where commands run.
   */
  static async start(
    stateFolder: string,
    janitor: Janitor,
    isReached: (tree: WritableTree) => Promise<boolean>,
  ): Promise<OverlayTrees | null> {
    if (process.platform !== 'linux') return null;
    const parent = path.join(stateFolder, 'worktrees');
    await mkdir(parent, { recursive: true });
    const folder = await mkdtemp(path.join(parent, `${process.pid}-overlay-`));
    janitor.addFolder(folder);
    const trees = await OverlayTrees.hold().catch(() => null);
    try {
      if (trees && (await trees.works(folder, isReached))) return trees;
      await trees?.dispose();
      return null;
    } finally {
      await removeFolder(folder);
      janitor.removeFolder(folder);
    }
  }

  private static async hold(): Promise<OverlayTrees> {
    // In a group of its own: Ctrl-C in the terminal must not take the trees away before they are released.
    const argv = ['--user', '--map-root-user', '--mount', '--propagation', 'private'];
    const holder = spawn('unshare', [...argv, '--', '/bin/sh', '-c', 'echo ready; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      env: { PATH: process.env.PATH },
    });
    holder.stdin.on('error', () => undefined);
    const ended = new Promise<never>((_, reject) => {
      holder.once('error', reject);
      holder.once('exit', () => reject(new Error('it ended')));
    });
    await Promise.race([once(holder.stdout, 'data'), ended]);
    ended.catch(() => undefined);
    // From here on neither it nor its pipes keep this process alive; before, nothing else might.
    holder.unref();
    for (const stream of [holder.stdin, holder.stdout]) if (stream instanceof Socket) stream.unref();
    return new OverlayTrees(holder, holder.pid!);
  }

  /** Can a tree be made, read and written here, and does the template stay as it is? */
  private async works(folder: string, isReached: (tree: WritableTree) => Promise<boolean>): Promise<boolean> {
    try {
      const template = path.join(folder, 'template');
      await mkdir(template);
      await writeFile(path.join(template, 'file'), 'before');
      const place = path.join(folder, 'place');
      await mkdir(place);
      const tree = await this.make(template, place);
      await writeFile(path.join(tree.root, 'file'), 'after');
      const read = [path.join(tree.root, 'file'), path.join(template, 'file')];
      const [after, before] = await Promise.all(read.map((file) => readFile(file, 'utf8')));
      const works = after === 'after' && before === 'before' && (await isReached(tree));
      await tree.release();
      return works;
    } catch {
      return false;
    }
  }

  async make(template: string, folder: string): Promise<WritableTree> {
    const [differences, work, worktree] = ['differences', 'work', 'tree'].map((name) => path.join(folder, name));
    await Promise.all([differences, work, worktree].map((name) => mkdir(name)));
    const layers = { lowerdir: template, upperdir: differences, workdir: work };
    const options = Object.entries(layers).map(([name, layer]) => `${name}=${escaped(layer)}`);
    this.count(template, 1);
    try {
      const argv = ['mount', '-t', 'overlay', '-o', [...options, 'userxattr'].join(','), 'overlay', worktree];
      // A machine with no process or memory to spare at this moment may have both at the next.
      await this.inside(argv).catch(() => setTimeout(mountPauseMs).then(() => this.inside(argv)));
    } catch (error) {
      this.count(template, -1);
      throw infrastructure(say`A tree could not be mounted: ${reasonOf(error)}.`, 'Try again.', error);
    }
    return {
      root: path.join(`/proc/${this.pid}/root`, worktree),
      worktree,
      enter: this.enter,
      differences,
      // Deleted from outside of its namespace, where it is an empty folder, the place takes what is mounted on it along, in every
      // namespace. That takes no command, and many go at once: a run that is cancelled has hundreds.
      release: async () => {
        this.count(template, -1);
        await rmdir(worktree).catch(() => undefined);
      },
    };
  }

  isInUse(template: string): boolean {
    return this.used.has(template);
  }

  async dispose(): Promise<void> {
    if (this.holder.exitCode !== null || this.holder.signalCode !== null) return;
    const ended = once(this.holder, 'exit');
    this.holder.ref();
    this.holder.stdin?.end();
    await ended;
  }

  private get enter(): readonly string[] {
    return ['nsenter', '--preserve-credentials', '--user', '--mount', `--target=${this.pid}`, '--'];
  }

  private async inside(argv: readonly string[]): Promise<void> {
    const [program, ...args] = [...this.enter, ...argv];
    await run(program, args, { timeout: mountMilliseconds });
  }

  private count(template: string, change: 1 | -1): void {
    const count = (this.used.get(template) ?? 0) + change;
    if (count > 0) this.used.set(template, count);
    else this.used.delete(template);
  }
}

/** A path among mount options: the kernel takes a backslash before a comma, and before a colon between lower layers. */
const escaped = (name: string) => name.replace(/[\\,:]/g, '\\$&');

const reasonOf = (error: unknown) =>
  error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : String(error);
