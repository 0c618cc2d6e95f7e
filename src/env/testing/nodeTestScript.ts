/** How a package's scripts start node:test. */
export interface NodeTestScript {
  /** Flags of Node's that the tests need, e.g. `--import`, `tsx`. */
  readonly flags: readonly string[];
  /** Files, folders or globs that the script names; empty where it leaves the choice to Node. */
  readonly patterns: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** False for `node file.js`: whether that is node:test depends on what the file imports. */
  readonly certain: boolean;
}

type Scripts = Readonly<Record<string, unknown>>;

const preferredNames = ['test', 'test:unit', 'unit', 'tests', 'test:node', 'test:js', 'test:ts'];

/** The ways to run node:test that a package's scripts hold, the most likely first. */
export function nodeTestScripts(scripts: Scripts): NodeTestScript[] {
  const others = Object.keys(scripts).filter((name) => /^(test[:-]|unit)|[:-](test|unit)$/.test(name));
  const names = new Set([...preferredNames, ...others]);
  const found = [...names].flatMap((name) => scriptOf(scripts, name, 0) ?? []);
  return [...found.filter((script) => script.certain), ...found.filter((script) => !script.certain)];
}

function scriptOf(scripts: Scripts, name: string, depth: number): NodeTestScript | null {
  const text = scripts[name];
  if (typeof text !== 'string' || depth > 5) return null;
  const candidates = commandsOf(text).flatMap((tokens) => interpret(tokens, scripts, depth) ?? []);
  return candidates.find((candidate) => candidate.certain) ?? candidates[0] ?? null;
}

/** The simple commands of a shell line, as words; quotes are taken off. */
export function commandsOf(text: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token] of text.matchAll(/&&|\|\||[;|&]|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\;|&])+/g)) {
    if (/^(&&|\|\||[;|&])$/.test(token)) commands.push([]);
    else commands[commands.length - 1].push(token.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, unquote));
  }
  return commands.filter((command) => command.length > 0);
}

const unquote = (_: string, double: string | undefined, single: string | undefined) =>
  single ?? (double ?? '').replace(/\\(["\\$`])/g, '$1');

function interpret(tokens: readonly string[], scripts: Scripts, depth: number): NodeTestScript | null {
  const env: Record<string, string> = {};
  let rest = [...tokens];
  for (let unwrapped = true; unwrapped;) {
    unwrapped = false;
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(rest[0] ?? '');
    if (assignment) {
      if (assignment[1] !== 'NODE_OPTIONS') env[assignment[1]] = assignment[2];
      rest = rest.slice(1);
      unwrapped = true;
    } else if (wrappers.has(rest[0])) {
      rest = afterOptions(rest.slice(1));
      unwrapped = true;
    }
  }
  const [program, ...args] = rest;
  const script = packageScript(program, args);
  const found = script === null ? start(program, args) : scriptOf(scripts, script, depth + 1);
  return found && { ...found, env: { ...env, ...found.env } };
}

/** Programs that start another one, given after their own options. */
const wrappers = new Set(['c8', 'nyc', 'npx', 'cross-env', 'env', 'time', 'dotenv', 'exec']);
const wrapperValues = new Set([
  '-r',
  '--reporter',
  '-n',
  '--include',
  '-x',
  '--exclude',
  '-o',
  '--reports-dir',
  '-p',
  '--package',
  '-e',
]);

function afterOptions(args: readonly string[]): string[] {
  let index = 0;
  while (index < args.length && args[index].startsWith('-')) {
    if (args[index] === '--') return args.slice(index + 1);
    index += wrapperValues.has(args[index]) ? 2 : 1;
  }
  return args.slice(index);
}

/** The script that `npm run x`, `npm test`, `yarn x`, `pnpm x` start; null for any other program. */
function packageScript(program: string, args: readonly string[]): string | null {
  if (program === 'run-s' || program === 'run-p') return args.find((arg) => !arg.startsWith('-')) ?? null;
  if (!['npm', 'yarn', 'pnpm', 'bun'].includes(program)) return null;
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (words[0] === 'run' || words[0] === 'run-script') return words[1] ?? null;
  return words[0] === 't' ? 'test' : (words[0] ?? null);
}

function start(program: string, args: readonly string[]): NodeTestScript | null {
  if (program === 'borp') return { ...borp(args), env: {}, certain: true };
  // isaacs' `glob -c "node --test" "test/*.ts"`.
  if (program === 'glob') {
    const at = args.findIndex((arg) => arg === '-c' || arg === '--cmd');
    const inner = at < 0 ? null : interpret(commandsOf(args[at + 1] ?? '')[0] ?? [], {}, 0);
    const patterns = args.filter((arg, index) => !arg.startsWith('-') && index !== at + 1);
    return inner && { ...inner, patterns };
  }
  if (program === 'tsx') return nodeCommand(args, ['--import', 'tsx']);
  if (program === 'node' || /[\\/]node$/.test(program)) return nodeCommand(args, []);
  return null;
}

function nodeCommand(args: readonly string[], before: readonly string[]): NodeTestScript | null {
  const { flags, words, isTest } = splitNodeArguments(args);
  if (!isTest && words.length === 0) return null;
  // Without --test, what follows the file are its arguments.
  return { flags: [...before, ...flags], patterns: isTest ? words : words.slice(0, 1), env: {}, certain: isTest };
}

const flagsWithValue = new Set([
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
  '--conditions',
  '-C',
  '--env-file',
  '--test-name-pattern',
  '--test-skip-pattern',
  '--test-concurrency',
  '--test-timeout',
  '--test-isolation',
  '--experimental-test-isolation',
  '--disable-warning',
  '--test-reporter',
  '--test-reporter-destination',
  '--test-coverage-include',
  '--test-coverage-exclude',
  '--test-global-setup',
  '--experimental-default-type',
  '--input-type',
]);
/** About how results are shown, not about what the tests need. */
const droppedFlag =
  /^--(test-reporter|test-coverage|experimental-test-coverage|watch|inspect|test-shard|test-update|no-inspect|test$)/;

function splitNodeArguments(args: readonly string[]) {
  const flags: string[] = [];
  const words: string[] = [];
  let isTest = false;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg === '--') continue;
    if (!arg.startsWith('-')) {
      words.push(arg);
      continue;
    }
    const takesValue = flagsWithValue.has(arg) && index + 1 < args.length;
    if (arg === '--test') isTest = true;
    if (!droppedFlag.test(arg)) flags.push(...args.slice(index, index + (takesValue ? 2 : 1)));
    if (takesValue) index += 1;
  }
  return { flags, words, isTest };
}

function borp(args: readonly string[]) {
  const valued = new Set([
    '-p',
    '--pattern',
    '-i',
    '--ignore',
    '-c',
    '--concurrency',
    '-X',
    '--coverage-exclude',
    '-t',
    '--timeout',
    '-r',
    '--reporter',
  ]);
  const patterns: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    if (valued.has(args[index])) {
      if (args[index] === '-p' || args[index] === '--pattern') patterns.push(args[index + 1]);
      index += 1;
    } else if (!args[index].startsWith('-')) patterns.push(args[index]);
  }
  return { flags: [], patterns };
}

/**
 * The script's flags without those for the runner itself, which the launcher stands in for, and how many files may run side
 * by side by them. Files that would share a process run one after the other.
 */
export function launcherFlags(flags: readonly string[]): { flags: string[]; concurrency?: number } {
  const kept: string[] = [];
  let concurrency: number | undefined;
  for (let index = 0; index < flags.length; index += 1) {
    const match = /^--(?:experimental-)?test-(concurrency|isolation)(?:=(.*))?$/.exec(flags[index]);
    if (!match) {
      kept.push(flags[index]);
      continue;
    }
    const value = match[2] ?? flags[(index += 1)];
    if (match[1] === 'concurrency') concurrency = Math.max(1, Number(value) || 1);
    else if (value === 'none') concurrency = 1;
  }
  return { flags: kept, concurrency };
}
