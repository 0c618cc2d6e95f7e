import path from 'node:path';
import { say } from '../../../trajectory/said.js';
import type { Launcher } from '../../sandbox/toolchain.js';
import { listFiles } from '../listFiles.js';
import { keyName, keyVariable, readProvenLine } from '../resultsProof.js';
import type { BuildCache, DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { isGradableGo } from './gradableGo.js';
import { goLauncher, type GoLauncherOptions } from './goLauncher.js';
import { parseGoResults } from './goResults.js';
import { goModules, testFilesOf } from './goModules.js';

const resultsName = 'go-test.json';
const testNames = /(^|\/)([^/]*_test\.go|go\.(mod|sum|work|work\.sum)|[^/]*\.golden)$|(^|\/)(testdata|vendor)\//;

/** `go test`, in a module or a workspace of several. */
export class GoTest implements TestRunner {
  readonly name = 'go test';

  constructor(
    private readonly go: string,
    private readonly launcher: Launcher = { program: process.execPath, env: {} },
    /** Folders of packages that only tests import. */
    private readonly supporting: readonly string[] = [],
    /** All folders of packages. */
    private readonly packages: ReadonlySet<string> = new Set(),
  ) {}

  /** Fails where a package of the module or of its tests needs another that is not there. */
  get check(): RunnerCheck {
    const failing = '{{if not .Dir}}{{index .Deps 1000000000}}{{end}}';
    return {
      argv: [this.go, 'list', '-e', '-deps', '-test', '-f', failing, './...'],
      problem: say`The tests run with go test, and modules that they need are not in the module cache, or ${this.go} does not start.`,
      remedy: say`Download them: go mod download.`,
    };
  }

  get cache(): BuildCache {
    return {
      name: 'go',
      tool: this.go,
      isInput: (name) => /(^|\/)go\.(mod|sum|work)$/.test(name),
      env: (folder) => ({ GOCACHE: folder }),
      fill: (detected) => this.launch(detected, detected.testFiles, null),
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const modules = await goModules(tree, files);
    return Promise.all(
      modules.map(async ({ root, files: inModule }) => {
        const { testFiles, supporting } = await testFilesOf(tree, root, inModule);
        const packages = new Set(inModule.map((file) => path.posix.dirname(file)));
        return { runner: new GoTest(this.go, this.launcher, supporting, packages), root, testFiles };
      }),
    ).then((found) => found.filter(({ testFiles }) => testFiles.length > 0));
  }

  isTestFile(name: string): boolean {
    return testNames.test(name) || this.supporting.includes(path.posix.dirname(name));
  }

  isGradable(name: string, original: string, changed: string): boolean {
    return isGradableGo(name, original, changed, this.packages);
  }

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const { argv, env } = this.launch(detected, chosen, path.join(resultsFolder, resultsName));
    return { argv, env: { ...env, [keyVariable]: path.join(resultsFolder, keyName) } };
  }

  private launch(detected: DetectedRunner, files: readonly string[], results: string | null) {
    const inRoot = files.map((file) => path.posix.relative(detected.root, file));
    const options: GoLauncherOptions = { go: this.go, results, files: inRoot };
    return {
      argv: [this.launcher.program, '--input-type=module', '--eval', goLauncher, '--', JSON.stringify(options)],
      env: this.launcher.env,
    };
  }

  async parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const results = await readProvenLine(resultsFolder, resultsName, key);
    return results === null ? null : parseGoResults(results, { root: detected.root, tree });
  }
}
