import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { say } from '../../../trajectory/said.js';
import { listFiles } from '../listFiles.js';
import { packageRoots } from '../packageRoots.js';
import { keyName, keyVariable } from '../resultsProof.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { configurationName, jestTakes, readJestConfig, type JestConfig } from './jestConfig.js';
import { jestLauncher, jestProgramSource, type JestLauncherOptions } from './jestLauncher.js';
import { parseJestResults } from './jestResults.js';
import { jestScript, type JestScript } from './jestScript.js';

const resultsName = 'jest.jsonl';
const oldestMajor = 29;
const byItself: JestScript = { flags: [], args: [], config: null, patterns: [], inOneProcess: false, env: {} };

const testName = /(^|\/)([^/]+[.\-_])?(test|spec)\.[cm]?[jt]sx?$/;
const testFolder = /(^|\/)(tests?|__tests__|__mocks__|__snapshots__|__fixtures__)\//;
/** What configures Jest, and what it transforms and resolves files with. */
const configuration =
  /(^|\/)(jest[.-](config|setup|preset|transform|environment|resolver)[^/]*|setupTests?\.[cm]?[jt]sx?|package\.json|package-lock\.json|yarn\.lock|pnpm-lock\.yaml|\.npmrc|babel\.config\.[cm]?[jt]s(on)?|babel\.config\.json|\.babelrc[^/]*|\.swcrc|tsconfig[^/]*\.json|\.env[^/]*|[^/]+\.snap)$/;

/** A package that Jest tests. */
interface JestPackage {
  readonly root: string;
  readonly script: JestScript | null;
  readonly configs: readonly JestConfig[];
}

/** What is known of the tests that were found. */
interface Found {
  readonly script: JestScript;
  readonly testFiles: ReadonlySet<string>;
  readonly setupFiles: ReadonlySet<string>;
  readonly inOneProcess: boolean;
  readonly otherRunner: string | null;
}
const nothingFound: Found = {
  script: byItself,
  testFiles: new Set(),
  setupFiles: new Set(),
  inOneProcess: false,
  otherRunner: null,
};

/** Jest, started by `jestLauncher` with what the repository has installed. `node` is the path of Node. */
export class Jest implements TestRunner {
  readonly name = 'jest';

  constructor(
    private readonly node: string,
    private readonly known: Found = nothingFound,
  ) {}

  get check(): RunnerCheck {
    const { otherRunner } = this.known;
    if (otherRunner !== null) {
      return {
        argv: [this.node, '-e', 'process.exit(1)'],
        problem: say`The tests run with Jest, and its configuration puts ${otherRunner} in the place of jest-circus.`,
        remedy: say`Let Jest run them with jest-circus, its own since version 27.`,
      };
    }
    const script = `${moduleImports}${jestProgramSource}
process.exit(Number.parseInt(jestProgram()?.version ?? '0') >= ${oldestMajor} ? 0 : 1);`;
    return {
      argv: [this.node, '--input-type=module', '--eval', script],
      problem: say`The tests run with Jest, which is not installed in the repository or older than ${oldestMajor}.`,
      remedy: say`Install the packages (npm ci, or as the repository does), with Jest ${oldestMajor} or newer.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const packages = await jestPackages(tree, files);
    const taken = new Set<string>();
    return packages.flatMap((jestPackage) => {
      const detected = this.detectIn(jestPackage, files, taken);
      for (const file of detected.testFiles) taken.add(file);
      return detected.testFiles.length > 0 ? [detected] : [];
    });
  }

  private detectIn(
    { root, script, configs }: JestPackage,
    files: readonly string[],
    taken: ReadonlySet<string>,
  ): DetectedRunner {
    const takes = jestTakes(configs);
    const prefix = root === '.' ? '' : `${root}/`;
    const all = files.filter((file) => file.startsWith(prefix) && !taken.has(file) && takes(file));
    const named = all.filter((file) => matchesAny(`/${file.slice(prefix.length)}`, script?.patterns ?? []));
    const testFiles = named.length > 0 ? named : all;
    const setup = configs.flatMap((config) => config.setup);
    const runner = new Jest(this.node, {
      script: script ?? byItself,
      testFiles: new Set(testFiles),
      setupFiles: new Set(files.filter((file) => setup.some((name) => isNamed(file, name)))),
      inOneProcess: (script?.inOneProcess ?? false) || configs.some(({ inOneProcess }) => inOneProcess),
      otherRunner: configs.find(({ otherRunner }) => otherRunner !== null)?.otherRunner ?? null,
    });
    return { runner, root, testFiles };
  }

  isTestFile(name: string): boolean {
    return (
      this.known.testFiles.has(name) ||
      this.known.setupFiles.has(name) ||
      testName.test(name) ||
      testFolder.test(name) ||
      configuration.test(name)
    );
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const { script, inOneProcess } = this.known;
    const options: JestLauncherOptions = {
      results: path.join(resultsFolder, resultsName),
      flags: script.flags,
      args: script.args,
      inOneProcess,
    };
    const names = chosen.map((file) => path.posix.relative(detected.root, file));
    return {
      argv: [this.node, '--input-type=module', '--eval', jestLauncher, '--', JSON.stringify(options), ...names],
      env: { ...script.env, [keyVariable]: path.join(resultsFolder, keyName) },
    };
  }

  async parse(
    resultsFolder: string,
    _detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const text = await readFile(path.join(resultsFolder, resultsName), 'utf8').catch(() => '');
    return parseJestResults(text, { tree, key, isTestFile: (file) => this.isTestFile(file) });
  }
}

const moduleImports = `import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
`;

/**
 * The packages whose script starts Jest, or that have a configuration for it. One above others that only holds what they
 * share, for their own scripts, is none.
 */
async function jestPackages(tree: string, files: readonly string[]): Promise<JestPackage[]> {
  const isConfiguration = (file: string) => configurationName.test(path.posix.basename(file));
  const names = files.filter(isConfiguration).map((file) => path.posix.basename(file));
  const roots = packageRoots(files, ['package.json', ...names]);
  const manifests = new Map<string, Manifest>();
  for (const root of roots) manifests.set(root, await manifestOf(tree, root));
  const configsBelow = async (root: string, script: JestScript | null): Promise<JestConfig[]> => {
    const named = script?.config && !script.config.startsWith('{') ? [path.posix.join(root, script.config)] : [];
    const own = named.length > 0 ? named : files.filter((file) => isConfiguration(file) && isBelow(file, root));
    const read = await Promise.all(
      own.map(async (file) => {
        const text = await readFile(path.join(tree, file), 'utf8').catch(() => '');
        return readJestConfig(text, path.posix.dirname(file));
      }),
    );
    const inManifests = [...manifests].flatMap(([folder, { jest }]) =>
      jest !== undefined && isBelow(`${folder}/package.json`, root)
        ? [readJestConfig(JSON.stringify(jest), folder)]
        : [],
    );
    return [...read, ...inManifests];
  };
  const found: (JestPackage & { readonly isConfigured: boolean })[] = [];
  for (const root of roots) {
    const { scripts, jest } = manifests.get(root) ?? {};
    const script = jestScript(scripts ?? {});
    const isConfigured =
      jest !== undefined || files.some((file) => isConfiguration(file) && path.posix.dirname(file) === root);
    found.push({ root, script, isConfigured, configs: script || isConfigured ? await configsBelow(root, script) : [] });
  }
  const isShared = (root: string) =>
    found.some((other) => other.root !== root && other.script !== null && isBelow(other.root, root));
  return found.filter(({ root, script, isConfigured }) => script !== null || (isConfigured && !isShared(root)));
}

const manifestSchema = z.object({
  scripts: z.record(z.string(), z.unknown()).optional(),
  jest: z.unknown().optional(),
});
type Manifest = z.infer<typeof manifestSchema>;

async function manifestOf(tree: string, root: string): Promise<Manifest> {
  try {
    return manifestSchema.parse(JSON.parse(await readFile(path.join(tree, root, 'package.json'), 'utf8')));
  } catch {
    return {};
  }
}

const isBelow = (file: string, root: string) => root === '.' || file === root || file.startsWith(`${root}/`);

/** Is `file` what `name` stands for, which may lack its ending, or be a folder with an index? */
const isNamed = (file: string, name: string) => file === name || file.replace(/(\/index)?\.[cm]?[jt]sx?$/, '') === name;

/** Patterns as Jest takes them from its command line; what is no regular expression is a part of the path. */
function matchesAny(file: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matches(file, pattern));
}

function matches(file: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'i').test(file);
  } catch {
    return file.includes(pattern);
  }
}
