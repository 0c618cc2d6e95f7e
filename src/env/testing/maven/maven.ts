import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { say } from '../../../trajectory/said.js';
import { findJava, localRepository } from '../../sandbox/javaToolchain.js';
import { findProgram } from '../../sandbox/toolchain.js';
import { isGradableJava } from '../gradableJava.js';
import { isJavaTestPath, JavaSources } from '../javaTests.js';
import { listFiles } from '../listFiles.js';
import type { DetectedRunner, RunnerCheck, TestResult, TestRunner } from '../testRunner.js';
import { mavenBuilds, type MavenBuild } from './mavenProjects.js';
import { provenJavaResults } from '../javaResults.js';
import { spyJar } from './spyJar.js';

const resultsName = 'results.jsonl';
const configuration = /(^|\/)(pom\.xml|[^/]*\.pom|mvnw(\.cmd)?|toolchains\.xml|settings\.xml)$|(^|\/)\.mvn\//;

/** Checks of style, reports and coverage, which no test needs. */
const skipped = [
  'jacoco',
  'checkstyle',
  'spotbugs',
  'findbugs',
  'pmd',
  'cpd',
  'enforcer',
  'rat',
  'license',
  'spotless.check',
  'animal.sniffer',
  'maven.javadoc',
  'maven.gitcommitid',
].map((name) => `-D${name}.skip=true`);

/** `$1`: the spy's jar; `$2`: Maven; then its arguments; after `--` the files. `$0` is the folder of results. */
const launcher = [
  'printf %s "$1" | base64 -d > "$0/whetstone.jar" || exit 1',
  'mvn=$2; shift 2; count=0',
  'printf "<settings/>" > "$0/settings.xml"',
  ': > "$0/files"',
  'for argument; do shift; if [ "$count" = 1 ]; then printf "%s\\n" "$argument" >> "$0/files"',
  'elif [ "$argument" = -- ]; then count=1; else set -- "$@" "$argument"; fi; done',
  'exec "$mvn" "$@"',
].join('\n');

/** What the machine has: found once, when a build is detected. */
interface Installation {
  /** The spy's, in base64; null where it could not be compiled. */
  readonly jar: string | null;
  readonly repository: string;
}

interface Found extends Installation {
  readonly build: MavenBuild;
  readonly sources: JavaSources;
}

/**
 * Maven with surefire, offline, with the user's cache of artifacts. `mvn` is the program's path. Results come from
 * listeners in the JVM of the tests (`javaListener.ts`) and are proven by the spy in Maven's own (`mavenSpy.ts`); surefire's
 * XML, which that JVM could write itself, is not read. Failsafe's integration tests are not run.
 * Builds write `target/` into the tree, which lives no longer than the episode.
 */
export class Maven implements TestRunner {
  readonly name = 'maven';

  constructor(
    private readonly mvn: string,
    private readonly found: Found | null = null,
  ) {}

  get check(): RunnerCheck {
    if (this.found?.jar === null) {
      return {
        argv: ['/bin/sh', '-c', 'exit 1'],
        problem: say`The tests run with Maven, and what watches its builds could not be compiled with the Java on PATH.`,
        remedy: say`Put a JDK (8 or newer, with javac) and Maven 3 on PATH.`,
      };
    }
    // Skipped, the plugins still ask for all that they and the tests need. One module of many tells enough.
    const first = this.found?.build.modules.find(({ testFiles }) => testFiles.length > 0);
    const dry = ['-Dmaven.main.skip=true', '-Dmaven.test.skip=true', ...this.modules(first?.testFiles ?? [])];
    const script = 'printf "<settings/>" > "$TMPDIR/settings.xml"; exec "$0" -s "$TMPDIR/settings.xml" "$@"';
    return {
      argv: ['/bin/sh', '-c', script, this.mvn, ...this.flags, ...dry, 'test'],
      problem: say`The tests run with Maven, and it does not find all that this build needs on this machine (the sandbox has no network).`,
      remedy: say`Run "mvn test" once in the repository, so that ~/.m2/repository holds its plugins and dependencies.`,
    };
  }

  async detect(tree: string): Promise<readonly DetectedRunner[]> {
    const files = await listFiles(tree);
    const builds = await mavenBuilds(tree, files);
    if (builds.length === 0) return [];
    const installation = await this.installation();
    const sources = new JavaSources(files);
    return builds.map((build) => ({
      runner: new Maven(this.mvn, { ...installation, build, sources }),
      root: build.root,
      testFiles: build.modules.flatMap(({ testFiles }) => testFiles),
    }));
  }

  private async installation(): Promise<Installation> {
    const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
    const java = await findJava((name) => findProgram(name, folders));
    const home = await realpath(this.mvn).then(
      (program) => path.dirname(path.dirname(program)),
      () => null,
    );
    const jar = java && home ? await spyJar(java.home, home).catch(() => null) : null;
    return { repository: await localRepository(), jar };
  }

  isTestFile(name: string): boolean {
    return configuration.test(name) || isJavaTestPath(name);
  }

  readonly isGradable = isGradableJava;

  command(detected: DetectedRunner, files: readonly string[], resultsFolder: string) {
    const chosen = files.length > 0 ? files : detected.testFiles;
    const jar = path.join(resultsFolder, 'whetstone.jar');
    return {
      argv: [
        '/bin/sh',
        '-c',
        launcher,
        resultsFolder,
        this.found?.jar ?? '',
        this.mvn,
        ...this.flags,
        '-s',
        path.join(resultsFolder, 'settings.xml'),
        `-Dmaven.ext.class.path=${jar}`,
        ...this.modules(chosen),
        'test',
        '--',
        ...chosen.map((file) => path.posix.relative(detected.root, file)),
      ],
      env: {
        WHETSTONE_FORK: resultsFolder,
        // No process of the tests may load code into Maven's own.
        MAVEN_OPTS: '-XX:+DisableAttachMechanism -XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
      },
    };
  }

  private get flags(): string[] {
    return [
      '-B',
      '-q',
      '-o',
      '-fae',
      // One module after the other, whatever .mvn/maven.config says: see mavenSpy.ts.
      '-T1',
      '-Dstyle.color=never',
      // Else an artifact counts only where it came from a repository of the same name, which the user's settings may give.
      '-Dmaven.legacyLocalRepo=true',
      ...(this.found ? [`-Dmaven.repo.local=${this.found.repository}`] : []),
      ...skipped,
    ];
  }

  /** The modules of the files, with those that they need: what lies in the cache of artifacts is not the tree's own. */
  private modules(files: readonly string[]): string[] {
    const all = this.found?.build.modules ?? [];
    const root = this.found?.build.root ?? '.';
    const needed = all.filter(({ testFiles }) => files.some((file) => testFiles.includes(file)));
    const known = needed.flatMap(({ testFiles }) => testFiles);
    if (needed.length === all.length || files.some((file) => !known.includes(file))) return [];
    return ['-am', '-pl', needed.map(({ folder }) => path.posix.relative(root, folder) || '.').join(',')];
  }

  async parse(
    resultsFolder: string,
    detected: DetectedRunner,
    tree: string,
    key?: string,
  ): Promise<readonly TestResult[] | null> {
    const sources = this.found?.sources ?? new JavaSources(detected.testFiles);
    return provenJavaResults(resultsFolder, resultsName, key, { root: detected.root, tree, sources });
  }
}
