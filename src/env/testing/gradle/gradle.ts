import path from 'node:path';
import { say } from '../../../trajectory/said.js';
import { gradleUserHome, wrappedGradle } from '../../sandbox/javaToolchain.js';
import { provenJavaResults } from '../javaResults.js';
import { isGradableJava } from '../gradableJava.js';
import { isJavaTestPath, JavaSources } from '../javaTests.js';
import { listFiles } from '../listFiles.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { gradleBuilds } from './gradleBuilds.js';
import { gradleScript } from './gradleScript.js';

const resultsName = 'results.jsonl';
const configuration =
  /(^|\/)([^/]*\.gradle(\.kts)?|gradle\.properties|gradlew(\.bat)?|libs\.versions\.toml|gradle\.lockfile)$|(^|\/)(gradle|buildSrc|build-logic)\//;

/** `$0`: the folder of results; `$1`: the script; `$2`: Gradle; then its arguments; after `--` the files. */
const launcher = [
  'printf %s "$1" > "$0/whetstone.gradle" || exit 1',
  'gradle=$2; shift 2; count=0',
  ': > "$0/files"',
  'for argument; do shift; if [ "$count" = 1 ]; then printf "%s\\n" "$argument" >> "$0/files"',
  'elif [ "$argument" = -- ]; then count=1; else set -- "$@" "$argument"; fi; done',
  'exec "$gradle" "$@"',
].join('\n');

/**
 * Gradle, offline, in a process that ends with the build. `gradle` is the program on PATH; where the build's wrapper asks for a
 * version that lies in `~/.gradle`, that one is used. Results come from an init script (`gradleScript.ts`) in Gradle's own
 * process; its XML, which code under test could write itself, is not read. The tasks named `test` are run.
 * Every run has a Gradle home of its own, so that none reads what another wrote; what was downloaded is read from the
 * user's, which Gradle can from version 6.2 on. The folders `build/` lie in the tree, which lives no longer than the episode.
 */
export class Gradle implements TestRunner {
  readonly name = 'gradle';

  constructor(
    private readonly gradle: string,
    private readonly sources: JavaSources | null = null,
    private readonly wanted: string | null = null,
  ) {}

  get check(): RunnerCheck {
    const script = 'GRADLE_USER_HOME="$TMPDIR/gradle-home" exec "$0" "$@"';
    return {
      argv: [
        '/bin/sh',
        '-c',
        script,
        this.gradle,
        ...flags,
        '--project-cache-dir',
        '/tmp/gradle-project',
        '--dry-run',
        'test',
      ],
      problem:
        this.wanted === null
          ? say`The tests run with Gradle, and it cannot configure this build without a network.`
          : say`The tests run with Gradle (its wrapper asks for ${this.wanted}), and it cannot configure this build without a network.`,
      remedy: say`Run "./gradlew test" once in the repository, so that ~/.gradle holds its distribution, plugins and dependencies.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const builds = await gradleBuilds(tree, files);
    const sources = new JavaSources(files);
    return Promise.all(
      builds.map(async ({ root, testFiles, distribution }) => {
        const wrapped = distribution && (await wrappedGradle(distribution));
        return { runner: new Gradle(wrapped || this.gradle, sources, distribution), root, testFiles };
      }),
    );
  }

  isTestFile(name: string): boolean {
    return configuration.test(name) || isJavaTestPath(name);
  }

  readonly isGradable = isGradableJava;

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    return {
      argv: [
        '/bin/sh',
        '-c',
        launcher,
        resultsFolder,
        gradleScript,
        this.gradle,
        ...flags,
        '--project-cache-dir',
        path.join(resultsFolder, 'project-cache'),
        '--init-script',
        path.join(resultsFolder, 'whetstone.gradle'),
        'test',
        '--',
        ...chosen.map((file) => path.posix.relative(detected.root, file)),
      ],
      env: {
        WHETSTONE_FORK: resultsFolder,
        GRADLE_USER_HOME: path.join(resultsFolder, 'gradle-home'),
        GRADLE_RO_DEP_CACHE: path.join(gradleUserHome(), 'caches'),
      },
    };
  }

  async parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const sources = this.sources ?? new JavaSources(detected.testFiles);
    return provenJavaResults(resultsFolder, resultsName, key, { root: detected.root, tree, sources });
  }
}

const flags = [
  '--offline',
  '--no-daemon',
  '--no-build-cache',
  '--continue',
  '--quiet',
  '--console=plain',
  // No process of the tests may load code into Gradle's own.
  '-Dorg.gradle.jvmargs=-Xmx2g -XX:+DisableAttachMechanism',
  '-Dorg.gradle.configuration-cache=false',
  '-Dorg.gradle.unsafe.configuration-cache=false',
  '-Dorg.gradle.vfs.watch=false',
  // Else tests may run before all is compiled.
  '-Dorg.gradle.parallel=false',
  '-Dorg.gradle.welcome=never',
  // Else a daemon of Kotlin's outlives the build.
  '-Pkotlin.compiler.execution.strategy=in-process',
];
