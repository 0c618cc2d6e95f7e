import path from 'node:path';
import { z } from 'zod';
import { say } from '../../../trajectory/said.js';
import type { Launcher } from '../../sandbox/toolchain.js';
import { globToRegExp } from '../glob.js';
import { listFiles } from '../listFiles.js';
import { keyName, keyVariable, readProvenLine } from '../resultsProof.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { withUniqueIds } from '../uniqueIds.js';
import { configuredLauncher, type ConfiguredLauncherOptions } from './configuredLauncher.js';
import { resultsOfRun } from './configuredResults.js';
import { configName, filePlaceholder, filesPlaceholder, readRunners, type RunnerDefinition } from './runnersConfig.js';

const foundName = 'configured.json';

/**
 * Any command that writes JUnit XML or TAP, as `whetstone.config.json` names it. Without a definition it finds those that the
 * configuration of a tree holds. Its results are worth what the command makes of them (see `configuredLauncher`).
 */
export class ConfiguredRunner implements TestRunner {
  private definitions: Promise<readonly RunnerDefinition[]> | null = null;

  constructor(
    private readonly launcher: Launcher,
    private readonly definition: RunnerDefinition | null = null,
  ) {}

  get name(): string {
    return this.definition?.name ?? 'a configured command';
  }

  get check(): RunnerCheck {
    const [program] = this.definition?.command ?? [''];
    const find =
      process.platform === 'win32' ? ['where', program] : ['/bin/sh', '-c', 'command -v -- "$1"', 'sh', program];
    return {
      argv: find,
      problem: say`The tests run with ${this.name}, and its program ${program} was not found.`,
      remedy: say`Install it, or mend \`command\` of this runner in ${configName}.`,
    };
  }

  /** The first tree's configuration counts for all: those of the repository's history need not have one. */
  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    this.definitions ??= readRunners(tree);
    const definitions = await this.definitions;
    if (definitions.length === 0) return [];
    const files = await listFiles(tree);
    return definitions
      .map((definition) => ({
        runner: new ConfiguredRunner(this.launcher, definition),
        root: path.posix.normalize(definition.root).replace(/\/$/, ''),
        testFiles: files.filter(matcher(definition.root, definition.testFiles)),
      }))
      .filter(({ testFiles }) => testFiles.length > 0);
  }

  isTestFile(name: string): boolean {
    if (this.definition === null) return name === configName;
    const { root, testFiles, configuration } = this.definition;
    return name === configName || matcher(root, [...testFiles, ...configuration])(name);
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const definition = this.defined();
    const chosen = files.length > 0 ? files : detected.testFiles;
    const options: ConfiguredLauncherOptions = {
      found: path.join(resultsFolder, foundName),
      runs: runsOf(definition, detected.root, chosen),
      env: definition.env,
      results: resultsPlace(definition),
      timeoutMs: definition.timeoutSeconds * 1000,
    };
    const { program, env } = this.launcher;
    return {
      argv: [program, '--input-type=module', '--eval', configuredLauncher, '--', JSON.stringify(options)],
      env: { ...env, [keyVariable]: path.join(resultsFolder, keyName) },
    };
  }

  async parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const found = await readProvenLine(resultsFolder, foundName, key);
    if (!found) return null;
    const { format } = this.defined().results;
    const context = { root: detected.root, testFiles: detected.testFiles, tree };
    const runs = foundSchema.parse(JSON.parse(found)).runs.map((run) => resultsOfRun(run, format, context));
    const whole = runs.filter((results) => results !== null);
    return whole.length === runs.length ? withUniqueIds(whole.flat()) : null;
  }

  private defined(): RunnerDefinition {
    if (this.definition === null) throw new Error('internal: a runner without a definition was asked to run.');
    return this.definition;
  }
}

const foundSchema = z.object({
  runs: z.array(
    z.object({ file: z.string().nullable(), exitCode: z.number().nullable(), documents: z.array(z.string()) }),
  ),
});

/** Tells paths of the tree that one of the globs, relative to `root`, stands for. */
function matcher(root: string, globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map((glob) => globToRegExp(path.posix.join(root, glob)));
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** The commands for these files (relative to the tree). */
export function runsOf(
  { command, selectTests }: RunnerDefinition,
  root: string,
  files: readonly string[],
): ConfiguredLauncherOptions['runs'] {
  // No file is taken for a flag.
  const inRoot = (file: string) => path.posix.relative(root, file).replace(/^-/, './-');
  const withFiles = (word: string): string[] => {
    if (!word.includes(filesPlaceholder)) return [word];
    const given = files.map(inRoot);
    const fill = (text: string) => word.replaceAll(filesPlaceholder, () => text);
    return selectTests ? [fill(given.join(selectTests.joinedBy))] : given.map(fill);
  };
  if (!command.some((word) => word.includes(filePlaceholder)))
    return [{ argv: command.flatMap(withFiles), file: null }];
  return files.map((file) => ({
    argv: command.map((word) => word.replaceAll(filePlaceholder, () => inRoot(file))),
    file,
  }));
}

/** The folder before the first wildcard, and what paths in it must look like. */
function resultsPlace({ results }: RunnerDefinition): ConfiguredLauncherOptions['results'] {
  if (results.path === undefined) return null;
  const parts = path.posix.normalize(results.path).split('/');
  const wild = parts.findIndex((part) => /[*?[\]{}()]/.test(part));
  const fixed = wild < 0 ? parts.length - 1 : Math.min(wild, parts.length - 1);
  const folder = parts.slice(0, fixed).join('/') || '.';
  return { folder, pattern: globToRegExp(parts.slice(fixed).join('/')).source };
}
