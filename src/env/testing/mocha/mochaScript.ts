import path from 'node:path';
import { commandsOf } from '../nodeTestScript.js';

/** How a package's script starts Mocha. */
export interface MochaScript {
  /** Its flags, without those about how it runs and shows results. */
  readonly args: readonly string[];
  /** Flags of Node's own that stand before it. */
  readonly nodeFlags: readonly string[];
  /** Files, folders or globs that it names; empty where it leaves them to the configuration. */
  readonly specs: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const preferredNames = ['test', 'test:unit', 'unit', 'tests', 'mocha', 'test:mocha', 'test:node'];
const wrapper =
  /^([A-Za-z_]\w*=.*|-.*|npx|pnpm|yarn|bunx?|exec|dlx|cross-env(-shell)?|env|dotenv|time|c8|nyc|istanbul|cover|coverage|instrument|node|tsx)$/s;
const wrapperValues = new Set([
  '-r',
  '--reporter',
  '-n',
  '--include',
  '-x',
  '--exclude',
  '-o',
  '--reports-dir',
  '--extension',
]);
const programName = /^_?mocha(\.c?js)?$/;
const valued =
  /^(-[rutsgfROjnC]|--(require|file|ignore|exclude|ui|timeout|slow|grep|fgrep|config|package|extension|spec|reporter|reporter-options?|jobs|retries|import|loader|experimental-loader|conditions|node-option|env-file|watch-files|watch-ignore))$/;
/** About how it runs and shows results, not about what the tests need. */
const dropped =
  /^(-[RObjpwcC]|--(reporter|reporter-options?|bail|jobs|(no-)?parallel|retries|watch|watch-files|watch-ignore|(no-)?colou?rs?|forbid-only|forbid-pending|inspect|inspect-brk|debug|debug-brk|exit|no-exit)(=.*)?)$/;

/** The most likely of the ways to start Mocha that a package's scripts hold; null where there is none. */
export function mochaScript(scripts: Readonly<Record<string, unknown>>): MochaScript | null {
  const names = new Set([
    ...preferredNames,
    ...Object.keys(scripts).filter((name) => /test|unit|spec|mocha/.test(name)),
  ]);
  for (const name of names) {
    const text = scripts[name];
    if (typeof text !== 'string') continue;
    for (const words of commandsOf(text)) {
      const at = words.findIndex((word) => programName.test(path.posix.basename(word)));
      if (at >= 0 && areWrappers(words.slice(0, at))) return read(words.slice(0, at), words.slice(at + 1));
    }
  }
  return null;
}

function areWrappers(words: readonly string[]): boolean {
  return words.every((word, at) => wrapper.test(word) || wrapperValues.has(words[at - 1]) || isNodeValue(words, at));
}

/** The value of a flag of Node's own, as in `node --import tsx node_modules/.bin/mocha`. */
const isNodeValue = (words: readonly string[], at: number) =>
  /^--?(import|require|r|loader|experimental-loader|conditions|C|env-file)$/.test(words[at - 1] ?? '');

function read(before: readonly string[], after: readonly string[]): MochaScript {
  const node = before.findIndex((word) => word === 'node' || word === 'tsx');
  const ofNode = node < 0 ? [] : [...(before[node] === 'tsx' ? ['--import', 'tsx'] : []), ...before.slice(node + 1)];
  const pairs = before.flatMap((word) => {
    const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    return match ? [[match[1], match[2]] as const] : [];
  });
  const { NODE_OPTIONS = '', ...env } = Object.fromEntries(pairs);
  const options = commandsOf(NODE_OPTIONS)[0] ?? [];
  const { kept, words } = split(after);
  const specs = words.map((word) => word.replaceAll('\\', '/'));
  return { args: kept, nodeFlags: [...options, ...ofNode], specs, env };
}

function split(all: readonly string[]) {
  const kept: string[] = [];
  const words: string[] = [];
  for (let at = 0; at < all.length; at += 1) {
    const word = all[at];
    if (word === '--') continue;
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const takesValue = valued.test(word) && at + 1 < all.length;
    const named = /^--spec(?:=(.*))?$/.exec(word);
    if (named) words.push(named[1] ?? all[at + 1]);
    else if (!dropped.test(word)) kept.push(word, ...(takesValue ? [all[at + 1]] : []));
    if (takesValue) at += 1;
  }
  return { kept, words };
}
