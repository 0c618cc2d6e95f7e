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
import { mergeConfigs, mochaConfigOfArguments, mochaFiles, readMochaConfig, type MochaConfig } from './mochaConfig.js';
import { mochaMain, type MochaOptions } from './mochaMain.js';
import { mochaScript, type MochaScript } from './mochaScript.js';

const resultsName = 'mocha.jsonl';
const oldestMajor = 10;
const byMocha: MochaScript = { args: [], nodeFlags: [], specs: [], env: {} };

const configurationFile = /^\.mocharc\.(c?js|mjs|ya?ml|jsonc?)$/;
const testName = /[._-](test|spec)\.[cm]?[jt]sx?$/;
const testFolder = /(^|\/)(tests?|specs?|__tests__)\//;
const protectedName =
  /(^|\/)(package\.json|package-lock\.json|pnpm-(lock|workspace)\.yaml|yarn\.lock|\.npmrc|\.mocharc[^/]*|tsconfig[^/]*\.json|\.babelrc[^/]*|babel\.config\.[^/]*|\.swcrc|\.(nyc|c8)rc[^/]*|\.env[^/]*|[^/]+\.snap)$/;
/** What a file calls that makes tests, in any of Mocha's interfaces. */
const makesTests = /\b(describe|context|it|specify|suite|test)\s*(\.\w+\s*)?\(|\bexports\[|\bexports\s*=\s*\{/;

const changesChai =
  /\bchai\.use\(|\boverwrite(Method|Property|ChainableMethod)\(|\bimport\s*\{[^}]*\buse\b[^}]*\}\s*from\s*['"]chai['"]/;

/** How Mocha is started in one folder, and what it loads there. */
interface MochaSetting {
  readonly script: MochaScript;
  /** Loaded with the tests, as they hold hooks for all of them. */
  readonly support: readonly string[];
  readonly ownFiles: ReadonlySet<string>;
  readonly hasChaiPlugins: boolean;
}

/** Mocha 10 and newer, as installed in the repository. `node` is the path of the program that runs it. */
export class Mocha implements TestRunner {
  readonly name = 'mocha';

  constructor(
    private readonly node: string,
    private readonly setting: MochaSetting = {
      script: byMocha,
      support: [],
      ownFiles: new Set(),
      hasChaiPlugins: true,
    },
  ) {}

  get check(): RunnerCheck {
    const isThere = `process.exit(Number(require('mocha/package.json').version.split('.')[0]) >= ${oldestMajor} ? 0 : 1)`;
    return {
      argv: [this.node, '-e', isThere],
      problem: say`The tests run with Mocha, which is not installed here, or is older than Mocha ${oldestMajor}.`,
      remedy: say`Install the repository's dependencies, as with \`npm install\`.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const taken = new Set<string>();
    const found: DetectedRunner[] = [];
    // The innermost first: a package's tests run in its own folder.
    for (const root of packageRoots(files, ['package.json']).reverse()) {
      const user = await readPackage(tree, root, files);
      if (!user) continue;
      const prefix = root === '.' ? '' : `${root}/`;
      const inside = files.filter((file) => file.startsWith(prefix) && !taken.has(file));
      const loaded = mochaFiles(
        user.config,
        inside.map((file) => file.slice(prefix.length)),
      ).map((file) => prefix + file);
      const texts = await Promise.all(loaded.map((file) => readFile(path.join(tree, file), 'utf8').catch(() => '')));
      const testFiles = loaded.filter((_, index) => makesTests.test(texts[index]));
      if (testFiles.length === 0) continue;
      for (const file of loaded) taken.add(file);
      const setup = user.config.setup.map((name) => path.posix.join(root, name));
      const runner = new Mocha(this.node, {
        script: user.script ?? byMocha,
        support: loaded.filter((file) => !testFiles.includes(file)),
        ownFiles: new Set([...loaded, ...setup, ...setup.map((name) => `${name}.js`)]),
        hasChaiPlugins: user.hasChaiPlugins || texts.some((text) => changesChai.test(text)),
      });
      found.push({ runner, root, testFiles });
    }
    return found.reverse();
  }

  isTestFile(name: string): boolean {
    return this.setting.ownFiles.has(name) || testName.test(name) || testFolder.test(name) || protectedName.test(name);
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const { script, support, hasChaiPlugins } = this.setting;
    const chosen = files.length > 0 ? files : detected.testFiles;
    const loaded = [...new Set([...support, ...chosen])].sort();
    const names = loaded.map((file) => path.posix.relative(detected.root, file));
    const options: MochaOptions = { args: script.args, nodeFlags: script.nodeFlags, hasChaiPlugins };
    const launcher: ChildLauncherOptions = {
      results: path.join(resultsFolder, resultsName),
      argv: ['--input-type=module', '--eval', mochaMain, '--', JSON.stringify(options)],
    };
    return {
      argv: [this.node, '--input-type=module', '--eval', childLauncher, '--', JSON.stringify(launcher), ...names],
      env: { NO_COLOR: '1', ...script.env, [keyVariable]: path.join(resultsFolder, keyName) },
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

const names = z.record(z.string(), z.unknown()).catch({});
const manifest = z.object({
  name: z.string().catch(''),
  scripts: names,
  dependencies: names,
  devDependencies: names,
  mocha: z.unknown().optional(),
});

interface Package {
  readonly script: MochaScript | null;
  readonly config: MochaConfig;
  readonly hasChaiPlugins: boolean;
}

/** Null where the package does not use Mocha. */
async function readPackage(tree: string, root: string, files: readonly string[]): Promise<Package | null> {
  const read = (name: string) => readFile(path.join(tree, name), 'utf8').catch(() => '');
  const parsed = parseManifest(await read(path.posix.join(root, 'package.json')));
  if (!parsed) return null;
  const configurations = files.filter(
    (file) => path.posix.dirname(file) === root && configurationFile.test(path.posix.basename(file)),
  );
  const installed = [...Object.keys(parsed.dependencies), ...Object.keys(parsed.devDependencies)];
  const script = mochaScript(parsed.scripts);
  const isConfigured = configurations.length > 0 || (parsed.mocha !== undefined && installed.includes('mocha'));
  if (!script && !isConfigured) return null;
  const configs = await Promise.all(configurations.map(async (name) => readMochaConfig(name, await read(name))));
  const ofManifest = readMochaConfig('package.json', JSON.stringify(parsed.mocha ?? {}));
  const ofScript = mochaConfigOfArguments(script?.args ?? [], script?.specs ?? []);
  const hasChaiPlugins = [parsed.name, ...installed].some(
    (name) => /chai|sinon-/.test(name) && !/^(@types\/.*|chai)$/.test(name),
  );
  return { script, config: mergeConfigs([ofScript, ...configs, ofManifest]), hasChaiPlugins };
}

function parseManifest(text: string): z.infer<typeof manifest> | null {
  try {
    return manifest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
