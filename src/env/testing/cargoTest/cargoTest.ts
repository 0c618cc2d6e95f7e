import path from 'node:path';
import { say } from '../../../trajectory/said.js';
import type { Launcher } from '../../sandbox/toolchain.js';
import { listFiles } from '../listFiles.js';
import { keyName, keyVariable, readProvenLine } from '../resultsProof.js';
import type { BuildCache, DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { cargoLauncher, type CargoLauncherOptions } from './cargoLauncher.js';
import { parseCargoResults } from './cargoResults.js';
import { cargoWorkspaces } from './cargoWorkspaces.js';
import { restoreTests } from './restoreTests.js';

const resultsName = 'cargo-test.json';
const testNames =
  /(^|\/)(tests?|test_[^/]*|[^/]*_tests?)\.rs$|(^|\/)(tests|testdata|fixtures|snapshots|proptest-regressions|vendor)\//;
const configuration = /(^|\/)(Cargo\.(toml|lock)|build\.rs|rust-toolchain(\.toml)?|[^/]+\.snap)$|(^|\/)\.cargo\//;

/** `cargo test`, in a package or a workspace: unit tests, in the sources themselves, and integration tests. */
export class CargoTest implements TestRunner {
  readonly name = 'cargo test';

  constructor(
    private readonly cargo: string,
    private readonly launcher: Launcher = { program: process.execPath, env: {} },
    /** Files of modules that are there for tests alone. */
    private readonly testModules: readonly string[] = [],
  ) {}

  /** Fails where a package that the tests need is not there. */
  get check(): RunnerCheck {
    return {
      argv: [this.cargo, 'tree', '--offline', '--workspace', '--quiet', '--edges=normal,build,dev'],
      problem: say`The tests run with cargo test, and crates that they need are not downloaded, or ${this.cargo} does not start.`,
      remedy: say`Download them: cargo fetch.`,
    };
  }

  get cache(): BuildCache {
    return {
      name: 'cargo',
      tool: this.cargo,
      isInput: (name) => /(^|\/)(Cargo\.(toml|lock)|rust-toolchain(\.toml)?)$|(^|\/)\.cargo\//.test(name),
      // Debug information is most of what would be built, and no test needs it.
      env: (folder) => ({
        CARGO_TARGET_DIR: folder,
        CARGO_INCREMENTAL: '0',
        CARGO_PROFILE_DEV_DEBUG: '0',
        CARGO_PROFILE_TEST_DEBUG: '0',
      }),
      fill: (detected) => this.launch(detected, detected.testFiles, null),
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const workspaces = await cargoWorkspaces(tree, await listFiles(tree));
    return workspaces.map(({ root, testFiles, testModules }) => ({
      runner: new CargoTest(this.cargo, this.launcher, testModules),
      root,
      testFiles,
    }));
  }

  isTestFile(name: string): boolean {
    return testNames.test(name) || configuration.test(name) || this.testModules.includes(name);
  }

  readonly restoreTests = restoreTests;

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const { argv, env } = this.launch(detected, chosen, path.join(resultsFolder, resultsName));
    return { argv, env: { ...env, [keyVariable]: path.join(resultsFolder, keyName) } };
  }

  private launch(detected: DetectedRunner, files: readonly string[], results: string | null) {
    const inRoot = files.map((file) => path.posix.relative(detected.root, file));
    const options: CargoLauncherOptions = { cargo: this.cargo, results, files: inRoot };
    return {
      argv: [this.launcher.program, '--input-type=module', '--eval', cargoLauncher, '--', JSON.stringify(options)],
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
    return results === null ? null : parseCargoResults(results, { root: detected.root, tree });
  }
}
