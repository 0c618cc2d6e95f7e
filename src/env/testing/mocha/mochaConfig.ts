import path from 'node:path';
import { globToRegExp } from '../glob.js';

/** What decides which files Mocha loads. */
export interface MochaConfig {
  readonly spec: readonly string[];
  readonly extension: readonly string[];
  readonly ignore: readonly string[];
  readonly recursive: boolean;
  /** Files and modules that are loaded before the tests. */
  readonly setup: readonly string[];
}

const listNames = ['spec', 'extension', 'extensions', 'ignore', 'exclude', 'file', 'require'] as const;
type ListName = (typeof listNames)[number];
type Lists = Partial<Record<ListName, readonly string[]>> & { recursive?: boolean };

/** Settings of a configuration's text: JSON with comments, YAML, or code, of which only what it says in plain words is known. */
export function readMochaConfig(name: string, text: string): MochaConfig {
  if (/\.ya?ml$/.test(name)) return configOf(yamlLists(text));
  if (/\.jsonc?$|\.mocharc$/.test(name)) return configOf(jsonLists(text));
  return configOf(codeLists(text));
}

/** Settings as flags of the command line. */
export function mochaConfigOfArguments(args: readonly string[], specs: readonly string[]): MochaConfig {
  const valuesOf = (...names: string[]) =>
    args.flatMap((arg, at) => {
      const [name, value] = arg.split('=', 2);
      return names.includes(name) ? (value ?? args[at + 1] ?? '').split(',') : [];
    });
  return configOf({
    spec: specs,
    extension: valuesOf('--extension'),
    ignore: valuesOf('--ignore', '--exclude'),
    file: valuesOf('--file'),
    require: valuesOf('--require', '-r'),
    recursive: args.includes('--recursive'),
  });
}

export function mergeConfigs(configs: readonly MochaConfig[]): MochaConfig {
  const all = (name: 'spec' | 'extension' | 'ignore' | 'setup') => configs.flatMap((config) => config[name]);
  return {
    spec: all('spec'),
    extension: all('extension'),
    ignore: all('ignore'),
    recursive: configs.some(({ recursive }) => recursive),
    setup: all('setup'),
  };
}

/** Those of `files` (relative to where Mocha is started) that it loads as tests. */
export function mochaFiles(config: MochaConfig, files: readonly string[]): string[] {
  const extensions = config.extension.length > 0 ? config.extension : ['js', 'cjs', 'mjs'];
  const hasExtension = (file: string) =>
    extensions.some((extension) => file.endsWith(`.${extension.replace(/^\./, '')}`));
  const specs = (config.spec.length > 0 ? config.spec : ['test']).map(plain);
  const ignored = config.ignore.map((pattern) => globToRegExp(plain(pattern)));
  const isNamed = (spec: string) => {
    const matcher = globToRegExp(spec);
    const isBelow = (file: string) => spec === '.' || file.startsWith(`${spec}/`);
    const isDirect = (file: string) => (spec === '.' ? !file.includes('/') : path.posix.dirname(file) === spec);
    return (file: string) =>
      file === spec ||
      matcher.test(file) ||
      (isBelow(file) && hasExtension(file) && (config.recursive || isDirect(file)));
  };
  const matchers = specs.map(isNamed);
  return files.filter(
    (file) => matchers.some((matches) => matches(file)) && !ignored.some((matcher) => matcher.test(file)),
  );
}

const plain = (pattern: string) => path.posix.normalize(pattern.replaceAll('\\', '/')).replace(/\/$/, '');

function configOf(lists: Lists): MochaConfig {
  return {
    spec: lists.spec ?? [],
    extension: [...(lists.extension ?? []), ...(lists.extensions ?? [])],
    ignore: [...(lists.ignore ?? []), ...(lists.exclude ?? [])],
    recursive: lists.recursive ?? false,
    setup: [...(lists.file ?? []), ...(lists.require ?? [])].map(plain),
  };
}

const stringOrComment = /"(?:\\.|[^"\\])*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm;

function jsonLists(text: string): Lists {
  try {
    const parsed: unknown = JSON.parse(text.replace(stringOrComment, (found) => (found.startsWith('/') ? '' : found)));
    return listsOf(typeof parsed === 'object' && parsed !== null ? new Map(Object.entries(parsed)) : new Map());
  } catch {
    return {};
  }
}

function listsOf(values: ReadonlyMap<string, unknown>): Lists {
  const lists = listNames.map((name) => {
    const value = [values.get(name) ?? []].flat(2);
    return [name, value.filter((item) => typeof item === 'string').flatMap(splitList)] as const;
  });
  return { ...Object.fromEntries(lists), recursive: values.get('recursive') === true };
}

/** Mocha splits at commas, but not inside of braces. */
const splitList = (value: string) => value.split(/,\s*(?![^{]*\})/);

function yamlLists(text: string): Lists {
  const values = new Map<string, unknown>();
  const unquoted = (value: string) =>
    value
      .replace(/\s+#.*$/, '')
      .trim()
      .replace(/^(['"])(.*)\1$/, '$2');
  let current: string[] | null = null;
  for (const line of text.split(/\r?\n/)) {
    const entry = /^([\w-]+):\s*(.*)$/.exec(line);
    const item = /^\s*-\s+(.+)$/.exec(line);
    if (entry) {
      const value = unquoted(entry[2]);
      const inline = /^\[(.*)\]$/.exec(value);
      current = inline ? inline[1].split(',').map(unquoted) : value === '' ? [] : [value];
      values.set(entry[1], value === 'true' ? true : current);
    } else if (item && current) current.push(unquoted(item[1]));
  }
  return listsOf(values);
}

function codeLists(text: string): Lists {
  const values = new Map<string, unknown>();
  for (const name of listNames) {
    const match = new RegExp(`['"]?\\b${name}['"]?\\s*:\\s*(\\[[^\\]]*\\]|(['"\`]).*?\\2)`).exec(text);
    if (match)
      values.set(
        name,
        [...match[1].matchAll(/(['"`])(.*?)\1/g)].map((found) => found[2]),
      );
  }
  values.set('recursive', /\brecursive['"]?\s*:\s*true/.test(text));
  return listsOf(values);
}
