import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';

/** The owner's side of the janitor: what is noted here is cleaned up even where this process is killed. */
export class Janitor {
  private child: ChildProcess | null = null;

  /** Starts the janitor's process. `script` is its bundle; by default the one beside this bundle. */
  start(script = defaultScript()): void {
    if (this.child) return;
    if (!existsSync(script)) {
      throw infrastructure(
        say`Whetstone's own file ${script} is missing.`,
        'Run `npm run build`, or install Whetstone again.',
      );
    }
    this.child = spawn(process.execPath, [script], {
      // In an extension host the executable is Electron, which is Node only when told so.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', NODE_OPTIONS: '' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
      cwd: path.parse(process.execPath).root,
    });
    // Neither the janitor nor its pipe keeps this process alive; a janitor that died is not worth failing for.
    this.child.on('error', () => undefined);
    this.child.stdin?.on('error', () => undefined);
    this.child.unref();
    if (this.child.stdin instanceof Socket) this.child.stdin.unref();
  }

  /** Ends the janitor, which cleans up what is still noted. Resolves once it has. */
  async stop(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.stdin?.end();
    await ended;
  }

  addFolder(folder: string): void {
    this.tell(`folder ${JSON.stringify(folder)}`);
  }
  removeFolder(folder: string): void {
    this.tell(`unfolder ${JSON.stringify(folder)}`);
  }
  /** To be called before a command is started: `marker` will stand in the environment of its processes. */
  addCommand(marker: string): void {
    this.tell(`command ${marker}`);
  }
  setGroup(marker: string, pid: number): void {
    this.tell(`group ${marker} ${pid}`);
  }
  removeCommand(marker: string): void {
    this.tell(`uncommand ${marker}`);
  }
  /** To be called before a container of that name is started; `removal` is the command that ends and removes it. */
  addContainer(name: string, removal: readonly string[]): void {
    this.tell(`container ${name} ${JSON.stringify(removal)}`);
  }
  removeContainer(name: string): void {
    this.tell(`uncontainer ${name}`);
  }

  private tell(line: string): void {
    if (this.child?.stdin?.writable) this.child.stdin.write(`${line}\n`);
  }
}

/** Beside the bundle that this file is in; while running from the sources, in the built `dist/`. */
function defaultScript(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const beside = path.join(here, 'janitor.cjs');
  return existsSync(beside) ? beside : path.join(here, '..', '..', '..', 'dist', 'janitor.cjs');
}
