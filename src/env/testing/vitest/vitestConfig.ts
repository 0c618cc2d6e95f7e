import { globToRegExp } from '../glob.js';

/** What the text of a configuration says of Vitest's files. It is code: what it computes is not known. */
export interface VitestConfig {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Files that set the tests up, as the configuration names them. */
  readonly setup: readonly string[];
  /** Does it list the projects that a run at its place covers? */
  readonly hasProjects: boolean;
}

const defaultName = /\.(test|spec)\.[cm]?[jt]sx?$/;
const defaultExclude =
  /(^|\/)(dist|cypress|\.(idea|git|cache|output|temp))\/|(^|\/)(karma|rollup|webpack|vite|vitest|jest|ava|babel|nyc|cypress|tsup|build|eslint|prettier)\.config\./;

/** A glob may hold what would begin a comment elsewhere. */
const stringOrComment = /(['"`])(?:\\.|(?!\1)[^\\])*?\1|\/\*[\s\S]*?\*\/|\/\/.*$/gm;

export function readVitestConfig(text: string): VitestConfig {
  const plain = withoutBlock(
    text.replace(stringOrComment, (found) => (/^\//.test(found) ? '' : found)),
    'coverage',
  );
  const named = (names: string) =>
    [...plain.matchAll(new RegExp(`\\b(?:${names})\\s*:\\s*(\\[[^\\]]*\\]|(['"\`]).*?\\2)`, 'g'))].flatMap(
      ([, value]) => [...value.matchAll(/(['"`])(.*?)\1/g)].map((match) => match[2]),
    );
  return {
    include: named('include').filter((pattern) => !pattern.startsWith('!')),
    exclude: named('exclude'),
    setup: named('setupFiles|globalSetup|runner|snapshotEnvironment|environment').map((name) =>
      name.replace(/^\.\//, ''),
    ),
    hasProjects: /\b(projects|workspace)\s*:/.test(plain) || /\bdefineWorkspace\b/.test(plain),
  };
}

/** Does Vitest take the file (relative to the configuration's folder) for a test, by what is known of the configuration? */
export function vitestTakes({
  include,
  exclude,
}: Pick<VitestConfig, 'include' | 'exclude'>): (file: string) => boolean {
  // A project's patterns are relative to its own folder.
  const matchers = (patterns: readonly string[]) =>
    patterns.map((pattern) => globToRegExp(`**/${pattern.replace(/^(\.?\/|\*\*\/)+/, '')}`));
  const [included, excluded] = [matchers(include), matchers(exclude)];
  const isNamed = (file: string) =>
    included.length > 0 ? included.some((matcher) => matcher.test(file)) : defaultName.test(file);
  return (file) => isNamed(file) && !defaultExclude.test(file) && !excluded.some((matcher) => matcher.test(file));
}

/** The text without the object that follows `name:`. */
function withoutBlock(text: string, name: string): string {
  const match = new RegExp(`\\b${name}\\s*:\\s*\\{`).exec(text);
  if (!match) return text;
  let depth = 1;
  let end = match.index + match[0].length;
  for (; end < text.length && depth > 0; end += 1) {
    if (text[end] === '{') depth += 1;
    if (text[end] === '}') depth -= 1;
  }
  return text.slice(0, match.index) + text.slice(end);
}
