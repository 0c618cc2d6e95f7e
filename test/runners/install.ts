import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const locks = path.dirname(fileURLToPath(import.meta.url));
const cache = path.join(locks, '..', '..', '.cache', 'runners');
const timeoutMs = 300_000;
const inThisProcess = new Map<string, Promise<string>>();

/**
 * The folder with a real tool's installation, made on demand from the lock file in `test/runners/<name>/`, `name` being
 * `<tool>-<version>`: a package-lock.json gives `node_modules/`, a requirements.txt with exact versions a virtual environment
 * `venv/` (run its `bin/python -m <tool>`: the scripts beside it name the folder that it was made in). A changed lock file gives
 * another folder. Several processes may ask at once: each installs into a folder of its own, and the first to finish
 * renames it into place. Throws where the registry cannot be reached.
 */
export function installedRunner(name: string): Promise<string> {
  const installation = inThisProcess.get(name) ?? install(name);
  inThisProcess.set(name, installation);
  return installation;
}

async function install(name: string): Promise<string> {
  const source = path.join(locks, name);
  const isNode = await exists(path.join(source, 'package-lock.json'));
  const files = isNode ? ['package.json', 'package-lock.json'] : ['requirements.txt'];
  const contents = await Promise.all(files.map((file) => readFile(path.join(source, file))));
  const digest = createHash('sha256').update(Buffer.concat(contents)).digest('hex').slice(0, 8);
  const finished = path.join(cache, `${name}-${digest}`);
  if (await exists(finished)) return finished;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(path.join(cache, `.${name}-`));
  try {
    await Promise.all(files.map((file) => copyFile(path.join(source, file), path.join(folder, file))));
    await (isNode ? installNode(folder) : installPython(folder));
    await rename(folder, finished).catch(async (error: unknown) => {
      if (!(await exists(finished))) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return finished;
}

async function installNode(folder: string): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, timeout: timeoutMs });
}

async function installPython(folder: string): Promise<void> {
  const venv = path.join(folder, 'venv');
  await run('python3', ['-m', 'venv', venv], { timeout: timeoutMs });
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'];
  const python = path.join(venv, 'bin', 'python');
  await run(python, [...pip, '-r', path.join(folder, 'requirements.txt')], { timeout: timeoutMs });
}

async function exists(name: string): Promise<boolean> {
  return access(name).then(
    () => true,
    () => false,
  );
}
