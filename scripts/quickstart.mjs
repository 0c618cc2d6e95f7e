// The README's first command: installs, builds, and runs the main job on the bundled repository.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node ${process.versions.node} is too old: Whetstone needs Node 20.19 or newer.`);
  process.exit(2);
}

/** npm is a script that `node` runs, so that no shell stands between on any platform. */
function npm(...args) {
  const cli = process.env.npm_execpath ?? join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  const [command, first] = existsSync(cli) ? [process.execPath, [cli]] : ['npm', []];
  run(command, [...first, ...args]);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

/** npm leaves a copy of the lock file behind when it has installed; an older one means that there is something to do. */
function installed() {
  const mark = join(root, 'node_modules/.package-lock.json');
  return existsSync(mark) && statSync(mark).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

if (!installed()) {
  console.log('Installing packages (npm ci)...');
  npm('ci', '--no-audit', '--loglevel', 'error');
}
console.log('Building...');
run(process.execPath, [join(root, 'esbuild.mjs')]);
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
run(process.execPath, [join(root, bin.whetstone), 'quickstart', ...process.argv.slice(2)]);
