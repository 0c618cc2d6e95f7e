import { spawn } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface CodeServer {
  readonly url: string;
  readonly authority: string;
  /** The throwaway home of this server: profile, settings, log. */
  readonly folder: string;
  stop(): Promise<void>;
}

export interface CodeServerOptions {
  /** Folder of the installed code-server, and the Node that runs it. */
  readonly codeServer: string;
  readonly node: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Folders of extensions that are installed. */
  readonly extensions?: readonly string[];
}

const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'files.autoSave': 'off',
};

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

const isUp = (url: string) =>
  fetch(`${url}/healthz`).then(
    (response) => response.ok,
    () => false,
  );

/** Starts VS Code's server on loopback with a throwaway profile and waits until it answers. */
export async function startCodeServer(options: CodeServerOptions): Promise<CodeServer> {
  const folder = mkdtempSync(join(tmpdir(), 'whetstone-vscode-'));
  const userData = join(folder, 'data');
  mkdirSync(join(userData, 'User'), { recursive: true });
  writeFileSync(join(folder, 'config.yaml'), '');
  for (const extension of options.extensions ?? [])
    cpSync(extension, join(folder, 'extensions', basename(extension)), { recursive: true });
  writeFileSync(join(userData, 'User', 'settings.json'), JSON.stringify({ ...quietSettings, ...options.settings }));

  const authority = `127.0.0.1:${await freePort()}`;
  const logFile = join(folder, 'server.log');
  const log = openSync(logFile, 'w');
  const child = spawn(
    options.node,
    [
      options.codeServer,
      ...['--config', join(folder, 'config.yaml'), '--auth', 'none', '--bind-addr', authority],
      ...['--user-data-dir', userData, '--extensions-dir', join(folder, 'extensions')],
      ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
      '--disable-getting-started-override',
      // Without its smoke-test driver the workbench ignores the extension and the tests named in its address.
      ...['--vscode-option', 'enable-smoke-test-driver'],
    ],
    {
      stdio: ['ignore', log, log],
      detached: true,
      env: {
        ...process.env,
        HOME: folder,
        XDG_CONFIG_HOME: join(folder, 'config'),
        XDG_DATA_HOME: join(folder, 'share'),
        EXTENSIONS_GALLERY: '{"serviceUrl":""}',
        ...options.environment,
      },
    },
  );
  closeSync(log);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };

  const url = `http://${authority}`;
  for (let tries = 0; !(await isUp(url)); tries++) {
    if (child.exitCode !== null || tries > 1200) {
      signalGroup('SIGKILL');
      throw new Error(`code-server did not start:\n${readFileSync(logFile, 'utf8')}`);
    }
    await sleep(100);
  }
  return {
    url,
    authority,
    folder,
    async stop() {
      signalGroup('SIGTERM');
      await Promise.race([gone, sleep(5000, undefined, { ref: false })]);
      signalGroup('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** Address of the workbench on a folder, with an extension in development and, where told, its tests. */
export function workbenchUrl(
  server: CodeServer,
  options: { folder?: string; extension: string; tests?: string },
): string {
  const remote = (path: string) => `vscode-remote://${server.authority}${encodeURI(path)}`;
  const payload: [string, string][] = [['extensionDevelopmentPath', remote(options.extension)]];
  if (options.tests) payload.push(['extensionTestsPath', remote(options.tests)]);
  const query = new URLSearchParams({ payload: JSON.stringify(payload) });
  if (options.folder) query.set('folder', options.folder);
  else query.set('ew', 'true');
  return `${server.url}/?${query.toString()}`;
}
