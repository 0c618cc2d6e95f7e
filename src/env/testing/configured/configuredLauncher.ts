import { launcherKey } from '../launcherKey.js';

/** What the launcher is told, as JSON in its only argument. */
export interface ConfiguredLauncherOptions {
  /** Where to write what it found. */
  readonly found: string;
  /** Commands, run one after the other; `file` is the test file that a command is for, null where it is for all. */
  readonly runs: readonly { readonly argv: readonly string[]; readonly file: string | null }[];
  readonly env: Readonly<Record<string, string>>;
  /** Folder to look for results in and regular expression of their paths in it; null where they come over the standard output. */
  readonly results: { readonly folder: string; readonly pattern: string } | null;
  /** For each run. */
  readonly timeoutMs: number;
}

/**
 * Runs commands that a repository's configuration names and gathers the results that they write. Given to Node with `--eval`, so
 * that no file of ours has to lie where the tests run. It takes the key away before it starts anything, deletes files that
 * stand where results are to come, and writes `{"runs": [{file, exitCode, documents}]}` and, on a second line, its HMAC:
 * proof that these are what lay there when the command had ended, `exitCode` being null where a signal or the time ended it.
 * Not possible: to tell who wrote them. Code under test that runs in the command's own process can write what it likes
 * and end that process with success.
 */
export const configuredLauncher = String.raw`
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const { found, runs, env, results, timeoutMs } = JSON.parse(process.argv[1]);
const most = 64 * 1024 * 1024;
const pattern = results && new RegExp(results.pattern);

${launcherKey}
// Paths in the results' folder that may be results: regular files, links not followed.
function resultFiles(folder = '') {
  let entries;
  try {
    entries = readdirSync(path.join(results.folder, folder), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1)).flatMap((entry) => {
    const name = folder === '' ? entry.name : folder + '/' + entry.name;
    if (entry.isDirectory()) return entry.name === '.git' || entry.name === 'node_modules' ? [] : resultFiles(name);
    return pattern.test(name) ? [name] : [];
  });
}

function removeOld() {
  for (const name of results ? resultFiles() : []) rmSync(path.join(results.folder, name), { force: true });
}

function readNew() {
  let left = most;
  return resultFiles().flatMap((name) => {
    const file = path.join(results.folder, name);
    const stat = lstatSync(file);
    if (!stat.isFile()) return [];
    left -= stat.size;
    return [left < 0 ? '' : readFileSync(file, 'utf8')];
  });
}

function run(argv) {
  const isGroup = process.platform !== 'win32';
  const child = spawn(argv[0], argv.slice(1), {
    stdio: ['ignore', results ? 'inherit' : 'pipe', 'inherit'],
    env: { ...process.env, ...env },
    detached: isGroup,
  });
  const chunks = [];
  let size = 0;
  child.stdout?.on('data', (chunk) => {
    process.stdout.write(chunk);
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
  });
  const kill = () => {
    try {
      if (isGroup) process.kill(-child.pid, 'SIGKILL');
      else child.kill('SIGKILL');
    } catch {}
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, timeoutMs);
  return new Promise((resolve) => {
    const end = (exitCode) => {
      clearTimeout(timer);
      // What the command left running could still write results.
      kill();
      const documents = results ? readNew() : [size <= most ? Buffer.concat(chunks).toString('utf8') : ''];
      resolve({ exitCode: isLate ? null : exitCode, documents });
    };
    child.on('error', (error) => {
      process.stderr.write(error.message + '\n');
      end(null);
    });
    child.on('exit', (code) => {
      if (!child.stdout) return end(code);
      const drained = setTimeout(() => end(code), 1000);
      child.on('close', () => {
        clearTimeout(drained);
        end(code);
      });
    });
  });
}

const key = takeKey();
const done = [];
for (const { argv, file } of runs) {
  removeOld();
  done.push({ file, ...(await run(argv)) });
}
const text = JSON.stringify({ runs: done }) + '\n';
const proof = key === undefined ? '' : createHmac('sha256', key).update(text).digest('hex');
writeFileSync(found, text + proof + '\n');
process.exit(done.every(({ exitCode }) => exitCode === 0) ? 0 : 1);
`;
