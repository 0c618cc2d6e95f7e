import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { say } from '../../trajectory/said.js';
import { insideTree, nodeFailureMessage } from './failureMessage.js';
import { globToRegExp } from './glob.js';
import { listFiles } from './listFiles.js';
import { nodeLauncher, type LauncherOptions } from './nodeLauncher.js';
import { packageRoots } from './packageRoots.js';
import { isProven, keyName, keyVariable, readIfThere } from './resultsProof.js';
import { launcherFlags, nodeTestScripts, type NodeTestScript } from './nodeTestScript.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from './testRunner.js';
import { withUniqueIds, type NamedResult } from './uniqueIds.js';

const resultsName = 'node-test.jsonl';
const byNode: NodeTestScript = { flags: [], patterns: [], env: {}, certain: true };

/** Names that Node takes for tests wherever they lie, and the folder whose files it all takes. */
const testName = /(^|\/)(test|test-[^/]*|[^/]*[.\-_]test)\.[cm]?[jt]sx?$/;
const testFolder = /(^|\/)(tests?|__tests__)\//;
const configurationName =
  /(^|\/)(package\.json|package-lock\.json|\.npmrc|tsconfig[^/]*\.json|\.env[^/]*|\.(c8|nyc)rc[^/]*|\.borp[^/]*|[^/]+\.snapshot)$/;
const scriptFile = /\.[cm]?[jt]s$/;

/** The runner that comes with Node. `node` is the program's path, `script` how the package starts its tests. */
export class NodeTest implements TestRunner {
  readonly name = 'node:test';

  constructor(
    private readonly node: string,
    private readonly script: NodeTestScript = byNode,
    private readonly detectedFiles: ReadonlySet<string> = new Set(),
    private readonly root = '.',
  ) {}

  /** Files of the tree that the script's flags name, such as those after `--import`: they set the tests up. */
  private get preloaded(): ReadonlySet<string> {
    return new Set(this.script.flags.map((flag) => path.posix.join(this.root, flag.replace(/^--[\w-]+=/, ''))));
  }

  get check(): RunnerCheck {
    return {
      argv: [this.node, '-e', 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)'],
      problem: say`The tests run with node:test, and ${this.node} is older than Node 20 or does not start.`,
      remedy: say`Put Node 20 or newer on PATH.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const found: DetectedRunner[] = [];
    for (const root of packageRoots(files, ['package.json'])) {
      const taken = new Set(found.flatMap(({ testFiles }) => testFiles));
      const left = files.filter((file) => !taken.has(file));
      const detected = await this.detectByScript(tree, root, left);
      if (detected) found.push(detected);
    }
    if (found.length > 0) return found;
    const scripts = files.filter((file) => scriptFile.test(file));
    const loose = await filter(scripts, (file) => mentionsNodeTest(path.join(tree, file)));
    return loose.length > 0 ? [this.found(byNode, '.', loose)] : [];
  }

  private found(script: NodeTestScript, root: string, testFiles: readonly string[]): DetectedRunner {
    return { runner: new NodeTest(this.node, script, new Set(testFiles), root), root, testFiles };
  }

  private async detectByScript(tree: string, root: string, files: readonly string[]): Promise<DetectedRunner | null> {
    const prefix = root === '.' ? '' : `${root}/`;
    const inside = files.filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length));
    const importsNodeTest = (file: string) => mentionsNodeTest(path.join(tree, root, file));
    for (const script of nodeTestScripts(await scriptsOf(path.join(tree, root, 'package.json')))) {
      const named = filesOf(script, inside);
      const isNamed = (file: string) => script.certain && (script.patterns.length > 0 || testName.test(file));
      const tests = await filter(named, async (file) => isNamed(file) || importsNodeTest(file));
      if (tests.length > 0)
        return this.found(
          script,
          root,
          tests.map((file) => prefix + file),
        );
    }
    return null;
  }

  isTestFile(name: string): boolean {
    return (
      this.detectedFiles.has(name) ||
      this.preloaded.has(name) ||
      testName.test(name) ||
      testFolder.test(name) ||
      configurationName.test(name)
    );
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const options: LauncherOptions = {
      results: path.join(resultsFolder, resultsName),
      ...launcherFlags(this.script.flags),
      files: chosen.map((file) => path.posix.relative(detected.root, file)),
    };
    return {
      argv: [this.node, '--input-type=module', '--eval', nodeLauncher, '--', JSON.stringify(options)],
      env: { ...this.script.env, [keyVariable]: path.join(resultsFolder, keyName) },
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

const resultLine = z.object({
  path: z.array(z.string()).min(1),
  file: z.string().optional(),
  entryFile: z.string().optional(),
  suite: z.boolean(),
  passed: z.boolean(),
  skipped: z.boolean(),
  stderr: z.string().optional(),
  error: z
    .object({
      message: z.string(),
      name: z.string().optional(),
      stack: z.string().optional(),
      failureType: z.string().optional(),
      operator: z.string().optional(),
      generated: z.boolean().optional(),
      expected: z.string().optional(),
      actual: z.string().optional(),
    })
    .optional(),
});

/**
 * Results from the launcher's lines; null where the last line does not say that the run came to its end. A test that no
 * test file made has the file that made it in its name, so that it cannot stand in for one of theirs.
 */
export function parseNodeResults(
  text: string,
  tree: string,
  isTestFile: (file: string) => boolean = () => true,
): TestResult[] | null {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length < 2 || !isEnd(lines[lines.length - 1])) return null;
  const results: NamedResult[] = [];
  for (const line of lines.slice(1, -1)) {
    const parsed = parseLine(line);
    if (!parsed) return null;
    const result = namedResult(parsed, tree, isTestFile);
    if (result) results.push(result);
  }
  return withUniqueIds(results);
}

function namedResult(
  parsed: z.infer<typeof resultLine>,
  tree: string,
  isTestFile: (file: string) => boolean,
): NamedResult | null {
  const name = parsed.path[parsed.path.length - 1];
  const location = parsed.file ?? '';
  const file = repositoryPath(parsed.entryFile ?? location, tree);
  // Node 20 names a file's own result by its full path, later versions by the path relative to where it was started.
  const isFile =
    parsed.path.length === 1 && (name === location || path.resolve(tree, name) === location || location === '');
  const isTest = scriptFile.test(name) && isFile;
  // A suite is no test, but a hook of it that fails is a failure.
  if (parsed.suite && (parsed.passed || parsed.error?.failureType === 'subtestsFailed')) return null;
  if (isTest && parsed.passed) return { file, path: [], status: 'passed', message: '' };
  const status = parsed.skipped ? 'skipped' : parsed.passed ? 'passed' : 'failed';
  const { error } = parsed;
  const message =
    status === 'failed' && error
      ? nodeFailureMessage({ ...error, stderr: isTest ? (parsed.stderr ?? '') : undefined }, { tree, testFile: file })
      : '';
  const maker = location === '' ? 'elsewhere' : repositoryPath(location, tree);
  const isTheirs = maker === file || isTestFile(maker) || /(^|\/)node_modules\//.test(maker);
  return { file, path: isTest ? [] : isTheirs ? parsed.path : [maker, ...parsed.path], status, message };
}

function repositoryPath(location: string, tree: string): string {
  const plain = location.startsWith('file:') ? fileURLToPath(location) : location;
  return insideTree(path.resolve(tree, plain), tree) ?? plain.replaceAll('\\', '/');
}

function parseLine(line: string) {
  try {
    return resultLine.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

const endLine = z.object({ kind: z.literal('end'), proof: z.string().optional() });

const isEnd = (line: string) => parseEnd(line) !== null;

function parseEnd(line: string): z.infer<typeof endLine> | null {
  try {
    return endLine.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/** Results whose last line proves all lines before it; else as `readProvenBeside`. */
export async function readProvenByLauncher(folder: string, name: string, key?: string): Promise<string | null> {
  const text = await readIfThere(folder, name);
  if (key === undefined) return text;
  const lastAt = text.trimEnd().lastIndexOf('\n') + 1;
  const end = parseEnd(text.slice(lastAt));
  return end?.proof !== undefined && isProven(text.slice(0, lastAt), end.proof, key) ? text : null;
}

async function scriptsOf(manifest: string): Promise<Record<string, unknown>> {
  try {
    const parsed = z
      .object({ scripts: z.record(z.string(), z.unknown()) })
      .safeParse(JSON.parse(await readFile(manifest, 'utf8')));
    return parsed.success ? parsed.data.scripts : {};
  } catch {
    return {};
  }
}

/** The files that the script's patterns stand for; without patterns, those that Node would choose itself. */
function filesOf(script: NodeTestScript, files: readonly string[]): string[] {
  const scripts = files.filter((file) => scriptFile.test(file));
  if (script.patterns.length === 0) return scripts.filter((file) => testName.test(file) || /(^|\/)test\//.test(file));
  const patterns = script.patterns.map((pattern) =>
    path.posix.normalize(pattern.replaceAll('\\', '/')).replace(/\/$/, ''),
  );
  const matchers = patterns.map(globToRegExp);
  const isChosen = (file: string) =>
    matchers.some((matcher) => matcher.test(file)) ||
    patterns.some((pattern) => pattern === '.' || file.startsWith(`${pattern}/`));
  return scripts.filter(isChosen);
}

async function mentionsNodeTest(file: string): Promise<boolean> {
  return /['"]node:test['"/]/.test(await readFile(file, 'utf8').catch(() => ''));
}

async function filter<T>(items: readonly T[], keep: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(keep));
  return items.filter((_, index) => kept[index]);
}
