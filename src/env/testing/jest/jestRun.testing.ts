/** For tests only: projects that the real Jest runs, as the adapter starts it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { installedRunner } from '../../../../test/runners/install.js';
import { writeFiles, type Files, type TemporaryFolders } from '../../fixtureRepository.testing.js';
import { keyName } from '../resultsProof.js';
import type { DetectedRunner, TestResult } from '../testRunner.js';
import { Jest } from './jest.js';

/** A folder with `files`, and what is installed for `version` (`jest-30`) as its node_modules. */
export async function jestProject(temporary: TemporaryFolders, version: string, files: Files): Promise<string> {
  const tree = await temporary.folder('päckage with "space"');
  await writeFiles(tree, files);
  await symlink(path.join(await installedRunner(version), 'node_modules'), path.join(tree, 'node_modules'), 'junction');
  return tree;
}

export interface JestRun {
  readonly detected: DetectedRunner;
  readonly results: readonly TestResult[] | null;
  readonly output: string;
  readonly exitCode: number;
}

/** Finds Jest in `tree` and runs what it found first, or `files` of it. */
export async function runJest(tree: string, files: readonly string[] = []): Promise<JestRun> {
  const [detected] = await new Jest(process.execPath).detect(tree);
  const resultsFolder = path.join(path.dirname(tree), `results-${randomBytes(6).toString('hex')}`);
  await mkdir(resultsFolder);
  const key = randomBytes(32).toString('hex');
  await writeFile(path.join(resultsFolder, keyName), key);
  const { argv, env } = detected.runner.command(detected, files, resultsFolder);
  const { output, exitCode } = await run(argv, { ...process.env, ...env }, path.join(tree, detected.root));
  return { detected, results: await detected.runner.parse(resultsFolder, detected, tree, key), output, exitCode };
}

export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string) {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(VITEST|NODE_ENV|JEST)/.test(name)));
  return new Promise<{ output: string; exitCode: number }>((resolve) => {
    execFile(argv[0], argv.slice(1), { cwd, env: own, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ output: stdout + stderr, exitCode: typeof error?.code === 'number' ? error.code : error ? 1 : 0 });
    });
  });
}
