/** For tests only: runs a runner's command as a workspace does, without a sandbox, in a clean environment. */
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { installedRunner } from '../../../test/runners/install.js';
import { writeFiles, type Files, type TemporaryFolders } from '../fixtureRepository.testing.js';
import { keyName } from './resultsProof.js';
import type { TestResult, TestRunner } from './testRunner.js';

export interface DirectRun {
  readonly results: readonly TestResult[] | null;
  readonly output: string;
  readonly tree: string;
  readonly resultsFolder: string;
}

/** Writes `files` to a fresh tree, with the dependencies of `test/runners/<installation>`, and runs the first runner found there. */
export async function runDirectly(
  temporary: TemporaryFolders,
  runner: TestRunner,
  installation: string,
  files: Files,
  testFiles: readonly string[] = [],
): Promise<DirectRun> {
  const dependencies = path.join(await installedRunner(installation), 'node_modules');
  const tree = await temporary.folder("a tree's ünicode");
  await writeFiles(tree, files);
  await symlink(dependencies, path.join(tree, 'node_modules'), process.platform === 'win32' ? 'junction' : 'dir');
  const [detected] = await runner.detect(tree);
  const resultsFolder = path.join(tree, '..', 'results');
  await mkdir(resultsFolder);
  await writeFile(path.join(resultsFolder, keyName), 'key');
  const { argv, env } = detected.runner.command(detected, testFiles, resultsFolder);
  const { PATH, HOME } = process.env;
  const output = await new Promise<string>((resolve) => {
    const options = { cwd: path.join(tree, detected.root), env: { PATH, HOME, ...env }, maxBuffer: 2 ** 28 };
    execFile(argv[0], argv.slice(1), options, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  const results = await detected.runner.parse(resultsFolder, detected, tree, 'key');
  return { results, output, tree, resultsFolder };
}

/** One line a result, as tests compare them. */
export const linesOf = (results: readonly TestResult[] | null) =>
  results?.map(({ status, id, message }) => [`${status} ${id}`, ...message.split('\n')].filter(Boolean).join(' / ')) ??
  null;
