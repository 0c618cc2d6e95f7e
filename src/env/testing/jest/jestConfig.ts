import path from 'node:path';
import { globToRegExp } from '../glob.js';

/** What the text of a configuration says of Jest's files. It is often code: what it computes is not known. */
export interface JestConfig {
  /** Folder of the configuration, relative to the tree. */
  readonly folder: string;
  readonly testMatch: readonly string[];
  readonly testRegex: readonly string[];
  readonly ignored: readonly string[];
  readonly roots: readonly string[];
  readonly hasProjects: boolean;
  /** Names of files that set the tests up, relative to the tree; their endings may be missing. */
  readonly setup: readonly string[];
  /** Must the files run in one process, since something is set up for all of them together? */
  readonly inOneProcess: boolean;
  /** What it puts into the place of Jest's own runner; null where nothing. */
  readonly otherRunner: string | null;
}

export const configurationName = /^jest\.config\.([cm]?[jt]s|json)$/;
const setupOptions =
  'setupFiles|setupFilesAfterEnv|setupTestFrameworkScriptFile|globalSetup|globalTeardown|testEnvironment|testRunner|runner|resolver|snapshotSerializers|snapshotResolver|testSequencer|testResultsProcessor|preset';

export function readJestConfig(text: string, folder: string): JestConfig {
  const plain = text.replace(/\/\*(?!\*?\/)[^'"`]*?\*\/|(^|\s)\/\/[^'"`\n]*$/gm, '');
  const named = (names: string) =>
    [...plain.matchAll(new RegExp(`\\b(?:${names})['"]?\\s*:\\s*(\\[[^\\]]*\\]|(['"\`]).*?\\2)`, 'g'))].flatMap(
      ([, value]) => literals(value),
    );
  const transforms = [...plain.matchAll(/\btransform['"]?\s*:\s*\{([^}]*)\}/g)].flatMap(([, block]) => literals(block));
  const local = (name: string) => /^(<rootDir>|\.{1,2})\//.test(name);
  const runners = [...named('runner|testRunner')].filter(
    (name) => !/(^|\/)jest-(circus|runner)(\/|$)|^circus$/.test(name),
  );
  return {
    folder,
    testMatch: named('testMatch'),
    testRegex: named('testRegex'),
    ignored: named('testPathIgnorePatterns'),
    roots: named('roots'),
    hasProjects: /\bprojects['"]?\s*:/.test(plain),
    setup: [...named(setupOptions), ...transforms]
      .filter(local)
      .map((name) => path.posix.join(folder, name.replace('<rootDir>/', ''))),
    inOneProcess: /\b(globalSetup|globalTeardown)\b/.test(plain) || /\bmaxWorkers['"]?\s*:\s*['"]?1\b/.test(plain),
    otherRunner: runners[0] ?? null,
  };
}

const literals = (text: string) =>
  [...text.matchAll(/(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , value]) => value.replace(/\\(.)/g, '$1'));

const usualName = /(^|\/)__tests__\/.*\.[cm]?[jt]sx?$|(^|\/)([^/]+\.)?(spec|test)\.[cm]?[jt]sx?$/;

/**
 * Which files (relative to the tree) Jest takes for tests, by what is known of its configurations: rather too many than too
 * few, since Jest itself leaves out what is none of its own.
 */
export function jestTakes(configs: readonly JestConfig[]): (file: string) => boolean {
  const matchers = configs.flatMap(({ testMatch, testRegex }) => [
    ...testMatch.filter((glob) => !glob.startsWith('!')).map(globAnywhere),
    ...testRegex.flatMap(expression),
  ]);
  const excluders = configs.flatMap(({ testMatch, ignored }) => [
    ...testMatch.filter((glob) => glob.startsWith('!')).map((glob) => globAnywhere(glob.slice(1))),
    ...ignored.flatMap(expression),
  ]);
  const hasUsual = matchers.length === 0 || configs.some(({ hasProjects }) => hasProjects);
  const onlyRoots = configs.length === 1 && !configs[0].hasProjects ? configs[0].roots : [];
  const roots = onlyRoots.map((root) => path.posix.join(configs[0].folder, root.replace('<rootDir>', '.')));
  return (file) => {
    const isBelow = roots.length === 0 || roots.some((root) => root === '.' || file.startsWith(`${root}/`));
    const isNamed = matchers.some((matcher) => matcher.test(`/${file}`)) || (hasUsual && usualName.test(file));
    return (
      isBelow && isNamed && /\.[cm]?[jt]sx?$/.test(file) && !excluders.some((excluder) => excluder.test(`/${file}`))
    );
  };
}

const globAnywhere = (glob: string) =>
  globToRegExp(`/**/${glob.replace('<rootDir>', '').replace(/^(\.?\/|\*\*\/)+/, '')}`);

function expression(source: string): RegExp[] {
  try {
    return [new RegExp(source.replace('<rootDir>', ''))];
  } catch {
    return [];
  }
}
