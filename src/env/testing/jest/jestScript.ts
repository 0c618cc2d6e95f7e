import path from 'node:path';
import { commandsOf } from '../nodeTestScript.js';

/** How a package's script starts Jest. */
export interface JestScript {
  /** Flags of Node's for its processes. */
  readonly flags: readonly string[];
  /** Jest's arguments, without those about how it runs and shows results. */
  readonly args: readonly string[];
  /** Where the script names its configuration, relative to the package. */
  readonly config: string | null;
  /** Regular expressions of the paths that it runs; empty for all. */
  readonly patterns: readonly string[];
  /** Does it say that the files run one after the other? */
  readonly inOneProcess: boolean;
  readonly env: Readonly<Record<string, string>>;
}

const preferredNames = ['test', 'test:unit', 'unit', 'tests', 'jest', 'test:jest', 'test:ci'];
const beforeProgram =
  /^([A-Za-z_]\w*=.*|-.*|npx|pnpm|yarn|bunx?|exec|dlx|cross-env(-shell)?|env|dotenv|c8|nyc|time|node|\$\(yarn|bin)$/s;
const program = /^jest(\.[cm]?js)?\)?$/;

/** The most likely of the ways to start Jest that a package's scripts hold; null where there is none. */
export function jestScript(scripts: Readonly<Record<string, unknown>>): JestScript | null {
  const others = Object.keys(scripts).filter((name) => /test|unit|spec|jest/.test(name));
  const isSpecial = (name: string) => /e2e|integration|watch|coverage|update|debug/.test(name);
  const names = [
    ...preferredNames,
    ...others.filter((name) => !isSpecial(name)),
    ...others.filter((name) => isSpecial(name)),
  ];
  for (const name of new Set(names)) {
    const text = scripts[name];
    if (typeof text !== 'string') continue;
    for (const words of commandsOf(text)) {
      const at = words.findIndex((word) => program.test(path.posix.basename(word)));
      const isBefore = (word: string, index: number) =>
        beforeProgram.test(word) || flagWithValue.test(words[index - 1] ?? '');
      if (at < 0 || !words.slice(0, at).every(isBefore)) continue;
      return { ...splitArguments(words.slice(at + 1)), ...beforeJest(words.slice(0, at)) };
    }
  }
  return null;
}

/** Options that say what the tests are and need; all of them take a value. */
const kept =
  /^(-c|--(config|env|testEnvironment|testEnvironmentOptions|preset|rootDir|roots|projects|selectProjects|ignoreProjects|setupFiles|setupFilesAfterEnv|testTimeout|testMatch|testRegex|testPathIgnorePatterns|modulePathIgnorePatterns|transform|transformIgnorePatterns|moduleNameMapper|moduleFileExtensions|resolver|globals))$/;
/** Others with a value. */
const dropped =
  /^(-[wt]|--(maxWorkers|testNamePattern|testPathPatterns?|reporters|outputFile|shard|changedSince|coverage\w+|collectCoverageFrom|cacheDirectory|workerIdleMemoryLimit|maxConcurrency|seed|filter|testResultsProcessor|testSequencer|openHandlesTimeout))$/;
const ofMany =
  /^--(roots|projects|selectProjects|ignoreProjects|setupFiles|setupFilesAfterEnv|testMatch|testPathIgnorePatterns|reporters|collectCoverageFrom)$/;

function splitArguments(words: readonly string[]) {
  const args: string[] = [];
  const patterns: string[] = [];
  let config: string | null = null;
  let inOneProcess = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === '--') continue;
    if (!word.startsWith('-')) {
      patterns.push(word.replace(/^\.\//, ''));
      continue;
    }
    const [, name, inline] = /^([^=]+)(?:=(.*))?$/s.exec(word) ?? [word, word];
    const values = inline === undefined ? [] : [inline];
    const takesValue = kept.test(name) || dropped.test(name);
    const hasMore = () => words[at + 1] !== undefined && !words[at + 1].startsWith('-');
    while (takesValue && hasMore() && (values.length === 0 || ofMany.test(name))) values.push(words[(at += 1)]);
    const isOne = (name === '-w' || name === '--maxWorkers') && values[0] === '1';
    if (name === '-i' || name === '--runInBand' || isOne) inOneProcess = true;
    if (/^--testPathPatterns?$/.test(name)) patterns.push(...values);
    if (name === '-c' || name === '--config') config = values[0] ?? null;
    if (kept.test(name)) args.push(...values.map((value) => `${name === '-c' ? '--config' : name}=${value}`));
  }
  return { args, patterns, config, inOneProcess };
}

const flag =
  /^--(experimental-[\w-]+|no-[\w-]+|max[-_]old[-_]space[-_]size=\d+|stack[-_]size=\d+|openssl-legacy-provider|unhandled-rejections=\w+|conditions=\S+|(loader|import|require)=\S+|expose[-_]gc|trace-[\w-]+)$/;
const flagWithValue = /^(-r|-C|--(loader|import|require|conditions))$/;

function beforeJest(words: readonly string[]) {
  const env: Record<string, string> = {};
  const flags: string[] = [];
  const collect = (options: readonly string[]) => {
    for (let at = 0; at < options.length; at += 1) {
      if (flag.test(options[at])) flags.push(options[at]);
      else if (flagWithValue.test(options[at]) && options[at + 1] !== undefined) {
        flags.push(options[at], options[(at += 1)]);
      }
    }
  };
  for (const word of words) {
    const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? [];
    // Jest's processes get them as arguments; the launcher, which holds the key, must not.
    if (name === 'NODE_OPTIONS') collect(value.split(/\s+/));
    else if (name !== undefined) env[name] = value;
  }
  const node = words.indexOf('node');
  if (node >= 0) collect(words.slice(node + 1));
  return { env, flags };
}
