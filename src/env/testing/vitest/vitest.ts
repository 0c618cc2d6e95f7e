import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { say } from '../../../trajectory/said.js';
import { childLauncher, type ChildLauncherOptions } from '../childLauncher.js';
import { listFiles } from '../listFiles.js';
import { readProvenByLauncher, parseNodeResults } from '../nodeTest.js';
import { packageRoots } from '../packageRoots.js';
import { keyName, keyVariable } from '../resultsProof.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { readVitestConfig, vitestTakes, type VitestConfig } from './vitestConfig.js';
import { vitestMain, type VitestOptions } from './vitestMain.js';
import { vitestScript, type VitestScript } from './vitestScript.js';

const resultsName = 'vitest.jsonl';
const byVitest: VitestScript = { args: [], filters: [], env: {} };
const oldestMajor = 3;

const configurationFile = /^(vitest\.(config|workspace|projects)(\.[^/]*)?|vite\.config)\.([cm]?[jt]s|json)$/;
const testName = /(^|\/)[^/]*\.(test|spec|test-d|bench)\.[cm]?[jt]sx?$/;
const testFolder = /(^|\/)(tests?|specs?|__(tests|mocks|snapshots|fixtures)__)\//;
const protectedName =
  /(^|\/)(package\.json|package-lock\.json|pnpm-(lock|workspace)\.yaml|yarn\.lock|\.npmrc|tsconfig[^/]*\.json|\.env[^/]*|vite[^/]*\.config\.[^/]*|vitest\.[^/]*|[^/]+\.snap)$/;
/** A file with a test's name that another runner drives. */
const foreignImport = /['"](node:test|bun:test|@playwright\/test|@jest\/globals|cypress|mocha)['"]/;

/** Vitest 3 and newer, as installed in the repository. `node` is the path of the program that runs it. */
export class Vitest implements TestRunner {
  readonly name = 'vitest';

  constructor(
    private readonly node: string,
    private readonly script: VitestScript = byVitest,
    private readonly ownFiles: ReadonlySet<string> = new Set(),
  ) {}

  get check(): RunnerCheck {
    const isThere = `process.exit(Number(require('vitest/package.json').version.split('.')[0]) >= ${oldestMajor} ? 0 : 1)`;
    return {
      argv: [this.node, '-e', isThere],
      problem: say`The tests run with Vitest, which is not installed here, or is older than Vitest ${oldestMajor}.`,
      remedy: say`Install the repository's dependencies, as with \`npm install\`.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const roots = await Promise.all(
      packageRoots(files, ['package.json']).map((root) => readPackage(tree, root, files)),
    );
    const users = roots.filter(({ usesVitest }) => usesVitest);
    // A run at the root covers the projects that it lists; else a package's tests run in its own folder.
    const whole = users.find(({ root, config }) => root === '.' && config.hasProjects);
    const taken = new Set<string>();
    const found: DetectedRunner[] = [];
    for (const user of whole ? [whole] : users.reverse()) {
      const testFiles = await testFilesOf(
        tree,
        user,
        files.filter((file) => !taken.has(file)),
      );
      if (testFiles.length === 0) continue;
      for (const file of testFiles) taken.add(file);
      const setup = user.config.setup.map((name) => path.posix.join(user.root, name));
      const runner = new Vitest(this.node, user.script ?? byVitest, new Set([...testFiles, ...setup]));
      found.push({ runner, root: user.root, testFiles });
    }
    return found.reverse();
  }

  isTestFile(name: string): boolean {
    return this.ownFiles.has(name) || testName.test(name) || testFolder.test(name) || protectedName.test(name);
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const names = chosen.map((file) => path.posix.relative(detected.root, file));
    const options: VitestOptions = { args: this.script.args, cache: path.join(resultsFolder, 'vite') };
    const launcher: ChildLauncherOptions = {
      results: path.join(resultsFolder, resultsName),
      argv: ['--input-type=module', '--eval', vitestMain, '--', JSON.stringify(options)],
    };
    return {
      argv: [this.node, '--input-type=module', '--eval', childLauncher, '--', JSON.stringify(launcher), ...names],
      env: { NO_COLOR: '1', ...this.script.env, [keyVariable]: path.join(resultsFolder, keyName) },
    };
  }

  async parse(
    resultsFolder: string,
    _detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const text = await readProvenByLauncher(resultsFolder, resultsName, key);
    return text === null ? null : parseNodeResults(text, tree, (file) => this.isTestFile(file));
  }
}

const manifest = z.object({
  scripts: z.record(z.string(), z.unknown()).catch({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}),
});

interface Package {
  readonly root: string;
  readonly usesVitest: boolean;
  readonly script: VitestScript | null;
  readonly config: VitestConfig;
}

async function readPackage(tree: string, root: string, files: readonly string[]): Promise<Package> {
  const read = (name: string) => readFile(path.join(tree, name), 'utf8').catch(() => '');
  const { scripts, dependencies, devDependencies } = parseManifest(await read(path.posix.join(root, 'package.json')));
  const names = files.filter(
    (file) => path.posix.dirname(file) === root && configurationFile.test(path.posix.basename(file)),
  );
  const texts = await Promise.all(
    names.map(async (name) => ({ name: path.posix.basename(name), text: await read(name) })),
  );
  const script = vitestScript(scripts);
  const isInstalled = 'vitest' in dependencies || 'vitest' in devDependencies;
  // A configuration of Vite's is also there where nothing is tested.
  const ofVitest = texts.filter(({ name, text }) => name.startsWith('vitest') || /\btest\s*:/.test(text));
  const usesVitest =
    script !== null || ofVitest.some(({ name }) => name.startsWith('vitest')) || (isInstalled && ofVitest.length > 0);
  const config = readVitestConfig(ofVitest.map(({ text }) => text).join('\n'));
  const isWorkspace = texts.some(({ name }) => name.startsWith('vitest.workspace'));
  return { root, usesVitest, script, config: { ...config, hasProjects: config.hasProjects || isWorkspace } };
}

function parseManifest(text: string): z.infer<typeof manifest> {
  try {
    return manifest.parse(JSON.parse(text));
  } catch {
    return { scripts: {}, dependencies: {}, devDependencies: {} };
  }
}

async function testFilesOf(
  tree: string,
  { root, script, config }: Package,
  files: readonly string[],
): Promise<string[]> {
  const prefix = root === '.' ? '' : `${root}/`;
  const takes = vitestTakes(config);
  const filters = script?.filters ?? [];
  const named = files.filter((file) => {
    if (!file.startsWith(prefix)) return false;
    const inside = file.slice(prefix.length);
    return takes(inside) && (filters.length === 0 || filters.some((filter) => inside.includes(filter)));
  });
  const texts = await Promise.all(named.map((file) => readFile(path.join(tree, file), 'utf8').catch(() => '')));
  return named.filter((_, index) => !foreignImport.test(texts[index]));
}
