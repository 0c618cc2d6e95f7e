/** For tests only: a runner's command with the real tool, without a sandbox around it. */
import { spawn } from 'node:child_process';
import { access, readdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { writeFiles, type Files, type TemporaryFolders } from '../fixtureRepository.testing.js';
import { findToolchain } from '../sandbox/toolchain.js';
import { keyName } from './resultsProof.js';
import type { DetectedRunner, TestResult } from './testRunner.js';

/** The Pythons of this machine that the launchers can run in: the one on PATH first, then pyenv's, the newest of each minor version. */
export async function pythonsHere(): Promise<string[]> {
  const versions = path.join(process.env.PYENV_ROOT ?? path.join(homedir(), '.pyenv'), 'versions');
  const installed = (await readdir(versions).catch(() => []))
    .filter((name) => Number(/^3\.(\d+)\./.exec(name)?.[1]) >= 8)
    .map((name) => path.join(versions, name, 'bin', 'python'));
  const { python } = await findToolchain(process.cwd(), []);
  const candidates = [...new Set([...(python ? [python] : []), ...installed])];
  const found = await Promise.all(
    candidates.map((candidate) =>
      access(candidate).then(
        () => [candidate],
        () => [],
      ),
    ),
  );
  return found.flat();
}

export interface CommandRun {
  /** Null where there were no complete results. */
  readonly results: readonly TestResult[] | null;
  readonly exitCode: number | null;
}

/** Runs all that `detect` finds in a tree of these files; what was printed is thrown away. */
export async function runCommand(
  temporary: TemporaryFolders,
  files: Files,
  detect: (tree: string) => Promise<readonly DetectedRunner[]>,
): Promise<CommandRun> {
  const tree = await temporary.folder("a tree's folder");
  await writeFiles(tree, files);
  return runIn(temporary, tree, (await detect(tree))[0]);
}

/** Runs these test files of a tree that lies there already; all of them where none is given. */
export async function runIn(
  temporary: TemporaryFolders,
  tree: string,
  detected: DetectedRunner,
  files: readonly string[] = [],
): Promise<CommandRun> {
  const results = await temporary.folder();
  const key = 'c0ffee';
  await writeFile(path.join(results, keyName), key);
  const { argv, env } = detected.runner.command(detected, files, results);
  const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1', ...env };
  const child = spawn(argv[0], argv.slice(1), {
    cwd: path.join(tree, detected.root),
    env: environment,
    stdio: 'ignore',
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  return { results: await detected.runner.parse(results, detected, tree, key), exitCode };
}

/** A line a test: its status, its id and why it failed. */
export const summary = ({ results }: CommandRun) =>
  results?.map(({ id, status, message }) =>
    [`${status} ${id}`, ...message.split('\n')].filter((row) => row !== '').join('\n  '),
  );
