import path from 'node:path';
import { commandsOf } from '../nodeTestScript.js';

/** How a package's script starts Vitest. */
export interface VitestScript {
  /** Its arguments, without those about how it runs and shows results. */
  readonly args: readonly string[];
  /** Parts of the paths of the files that it runs; empty for all. */
  readonly filters: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const preferredNames = ['test', 'test:unit', 'unit', 'tests', 'vitest', 'test:run'];
const beforeProgram =
  /^([A-Za-z_]\w*=.*|-.*|npx|pnpm|yarn|bunx?|exec|dlx|cross-env(-shell)?|env|dotenv|c8|time|node)$/s;
const subcommands = new Set(['run', 'watch', 'dev', 'bench', 'related', 'list']);
const valued =
  /^(-[crt]|--(config|root|dir|environment|mode|project|workspace|testNamePattern|exclude|testTimeout|hookTimeout|reporter|outputFile|shard|pool|maxWorkers|minWorkers|bail|retry|coverage\.\w+|browser|configLoader|sequence\.\w+))$/;
/** About how it runs and shows results, not about what the tests need. */
const dropped =
  /^(-[wu]|--(run|watch|ui|open|update|coverage|reporter|outputFile|bail|retry|silent|pool|poolOptions|(no-)?isolate|changed|shard|cache|typecheck|browser|inspect|inspect-brk|hideSkippedTests|standalone|logHeapUsage)([.=].*)?)$/;

/** The most likely of the ways to start Vitest that a package's scripts hold; null where there is none. */
export function vitestScript(scripts: Readonly<Record<string, unknown>>): VitestScript | null {
  const names = new Set([...preferredNames, ...Object.keys(scripts).filter((name) => /test|unit|spec/.test(name))]);
  for (const name of names) {
    const text = scripts[name];
    if (typeof text !== 'string') continue;
    for (const words of commandsOf(text)) {
      const at = words.findIndex((word) => /^vitest(\.mjs)?$/.test(path.posix.basename(word)));
      if (at < 0 || !words.slice(0, at).every((word) => beforeProgram.test(word))) continue;
      if (words[at + 1] === 'bench' || words[at + 1] === 'list') continue;
      return { ...splitArguments(words.slice(at + 1)), env: assignments(words.slice(0, at)) };
    }
  }
  return null;
}

function splitArguments(words: readonly string[]) {
  const args: string[] = [];
  const filters: string[] = [];
  for (let at = subcommands.has(words[0]) ? 1 : 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word.startsWith('-')) {
      filters.push(word.replace(/^\.\//, ''));
      continue;
    }
    const next = words[at + 1];
    const takesValue = valued.test(word) && next !== undefined && !next.startsWith('-');
    if (!dropped.test(word) && word !== '--') args.push(word, ...(takesValue ? [next] : []));
    if (takesValue) at += 1;
  }
  return { args, filters };
}

function assignments(words: readonly string[]): Record<string, string> {
  const pairs = words.flatMap((word) => {
    const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(word);
    // Options for Node would also reach the processes that hold results.
    return match && match[1] !== 'NODE_OPTIONS' ? [[match[1], match[2]] as const] : [];
  });
  return Object.fromEntries(pairs);
}
