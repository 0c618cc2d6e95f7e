import { execFile } from 'node:child_process';
import { access, readdir, readFile, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Java and what builds with it. Paths are absolute. */
export interface JavaToolchain {
  /** JAVA_HOME: the folder that holds `bin/java`. */
  readonly home: string;
  readonly maven: string | null;
  /** The one on PATH, else one that a project's wrapper has downloaded. */
  readonly gradle: string | null;
  /** Folders of programs; of an installation below a home, all is shown. */
  readonly programFolders: readonly string[];
  /** What builds have downloaded; never the settings beside it, which may hold credentials. */
  readonly caches: readonly string[];
}

/** Null where no Java is found. `find` gives a program of PATH. */
export async function findJava(find: (name: string) => Promise<string | null>): Promise<JavaToolchain | null> {
  const java = await find('java');
  const home = java && (await homeOf(java));
  if (!home) return null;
  const maven = await find('mvn');
  const gradle = (await find('gradle')) ?? (await newestWrapped());
  const programs = await Promise.all(
    [maven, gradle].filter((program) => program !== null).map((program) => realpath(program)),
  );
  return {
    home,
    maven,
    gradle,
    programFolders: [path.join(home, 'bin'), ...programs.map((program) => path.dirname(program))],
    caches: [
      await localRepository(),
      path.join(gradleUserHome(), 'wrapper', 'dists'),
      path.join(gradleUserHome(), 'caches', 'modules-2'),
    ],
  };
}

/** Java itself says where it lies: what PATH names may be a link or a version manager's shim. */
async function homeOf(java: string): Promise<string | null> {
  const answer = await run(java, ['-XshowSettings:properties', '-version'], { timeout: 20_000 }).catch(() => null);
  const said = answer && /^\s*java\.home = (.+)$/m.exec(answer.stderr + answer.stdout)?.[1].trim();
  if (!said) return null;
  // Java 8 names the runtime inside of the kit.
  const outer = path.dirname(said);
  const hasCompiler = await exists(path.join(outer, 'bin', executable('javac')));
  return path.basename(said) === 'jre' && hasCompiler ? outer : said;
}

/** Maven's cache of artifacts, where the user's settings put it. */
export async function localRepository(): Promise<string> {
  const folder = path.join(homedir(), '.m2');
  const settings = await readFile(path.join(folder, 'settings.xml'), 'utf8').catch(() => '');
  const plain = settings.replace(/<!--[\s\S]*?-->/g, '');
  const given = /<localRepository>\s*([^<]+?)\s*<\/localRepository>/.exec(plain)?.[1];
  const repository = given?.replace('${user.home}', homedir()).replace('${env.HOME}', homedir());
  return repository && path.isAbsolute(repository) ? repository : path.join(folder, 'repository');
}

export const gradleUserHome = () => process.env.GRADLE_USER_HOME ?? path.join(homedir(), '.gradle');

/** Gradle as a wrapper has put it below `~/.gradle`; `distribution` is a name such as `gradle-8.5-bin`. Null where it has not. */
export async function wrappedGradle(distribution: string): Promise<string | null> {
  const folder = path.join(gradleUserHome(), 'wrapper', 'dists', distribution);
  for (const hash of await readdir(folder).catch(() => [])) {
    const version = distribution.replace(/-(bin|all)$/, '');
    const program = path.join(folder, hash, version, 'bin', executable('gradle'));
    if (await exists(program)) return program;
  }
  return null;
}

async function newestWrapped(): Promise<string | null> {
  const names = await readdir(path.join(gradleUserHome(), 'wrapper', 'dists')).catch(() => []);
  const newestFirst = names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  for (const name of newestFirst) {
    const program = await wrappedGradle(name);
    if (program) return program;
  }
  return null;
}

const executable = (name: string) =>
  process.platform === 'win32' ? `${name}${name === 'gradle' ? '.bat' : '.exe'}` : name;

const exists = (name: string) =>
  access(name).then(
    () => true,
    () => false,
  );
