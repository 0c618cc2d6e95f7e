import { posix } from 'node:path';
import type { Language } from '../injection/parsing.js';

/** A package of the tree: its folder, and the files that loading it by its name may start with. */
interface Package {
  readonly folder: string;
  readonly name: string;
  readonly entries: readonly string[];
}

const MANIFESTS: Readonly<Record<string, (text: string, folder: string) => Package>> = {
  'package.json': nodePackage,
  'go.mod': (text, folder) => ({ folder, name: /^module\s+(\S+)/m.exec(text)?.[1] ?? '', entries: [] }),
  'Cargo.toml': (text, folder) => ({
    folder,
    name: (/^\[package\][\s\S]*?^name\s*=\s*"([^"]+)"/m.exec(text)?.[1] ?? '').replaceAll('-', '_'),
    entries: [],
  }),
};
const SUFFIXES = ['', '.js', '.ts', '.tsx', '.jsx', '.mjs', '.cjs', '.mts', '.cts', '.json'];
const OTHER_FOREIGN = /(^|\/)(node_modules|vendor|testdata|fixtures?)(\/|$)/;

/** Finds the files of a tree that an import means, as each language's tools do, near enough to choose tests by. */
export class ModuleResolver {
  private readonly files: ReadonlySet<string>;
  private readonly byFolder = new Map<string, string[]>();

  private constructor(
    files: readonly string[],
    private readonly packages: readonly Package[],
  ) {
    this.files = new Set(files);
    for (const file of files) {
      const folder = posix.dirname(file);
      this.byFolder.set(folder, [...(this.byFolder.get(folder) ?? []), file]);
    }
  }

  static async of(files: readonly string[], read: (path: string) => Promise<string>): Promise<ModuleResolver> {
    const manifests = files.filter(
      (file) => Object.hasOwn(MANIFESTS, posix.basename(file)) && !OTHER_FOREIGN.test(file),
    );
    const packages = await Promise.all(
      manifests.map(async (file) => MANIFESTS[posix.basename(file)](await read(file), posix.dirname(file))),
    );
    // The innermost first, so that a file's own package is the first around it.
    return new ModuleResolver(
      files,
      packages.sort((a, b) => b.folder.length - a.folder.length),
    );
  }

  /** Files that loading `path` brings without its saying so. */
  alwaysLoaded(path: string, language: Language): readonly string[] {
    const folder = posix.dirname(path);
    switch (language) {
      case 'python':
        return foldersAbove(path).flatMap((above) => this.existing([`${above}conftest.py`, `${above}__init__.py`]));
      case 'go':
      case 'java':
        return [...this.inFolder(folder), ...(language === 'java' ? this.samePackage(path) : [])];
      case 'rust':
        return this.sourcesOf(this.packageAround(path));
      default:
        return [];
    }
  }

  /** Files that the import `name` in `path` may mean; empty for what is not of this tree. */
  resolve(path: string, name: string, language: Language): readonly string[] {
    switch (language) {
      case 'python':
        return this.pythonModule(path, name);
      case 'go':
        return this.packages.flatMap((one) => {
          const isInside = one.name !== '' && (name === one.name || name.startsWith(`${one.name}/`));
          return isInside ? this.inFolder(posix.join(one.folder, name.slice(one.name.length))) : [];
        });
      case 'java':
        return this.endingWith(`/${name.replaceAll('.', '/')}.java`);
      case 'rust':
        return this.packages.filter((one) => one.name === name).flatMap((one) => this.sourcesOf(one));
      default:
        return this.script(path, name);
    }
  }

  private script(path: string, name: string): readonly string[] {
    const plain = name.replace(/[?#].*$/, '');
    if (/^\.{1,2}(\/|$)/.test(plain)) return this.scriptAt(posix.join(posix.dirname(path), plain));
    const own = this.packageAround(path);
    // The usual names for a package's own sources, where a compiler or bundler knows them.
    const alias = /^(?:@|~|#|src)\/(.*)$/.exec(plain);
    if (alias && own) {
      return [`${own.folder}/src/${alias[1]}`, `${own.folder}/${alias[1]}`].flatMap((at) => this.scriptAt(at));
    }
    return this.packages
      .filter((one) => one.name !== '' && (plain === one.name || plain.startsWith(`${one.name}/`)))
      .flatMap((one) => {
        const rest = plain.slice(one.name.length);
        const starts = rest === '' ? one.entries : [one.folder + rest, `${one.folder}/src${rest}`, ...one.entries];
        return starts.flatMap((start) => this.scriptAt(start));
      });
  }

  /** The file, or the folder's entry, at a path without its suffix, or with that of what it is compiled to. */
  private scriptAt(at: string): readonly string[] {
    const plain = posix.normalize(at).replace(/\/$/, '');
    const source = plain.replace(/\.([cm]?)jsx?$/, '.$1ts');
    const named = [...SUFFIXES.map((suffix) => plain + suffix), source, source.replace(/\.ts$/, '.tsx')];
    const file = named.find((candidate) => this.files.has(candidate));
    if (file !== undefined) return [file];
    const folder = this.packages.find((one) => one.folder === plain);
    const entries = [...(folder?.entries ?? []), `${plain}/index`].filter((entry) => posix.normalize(entry) !== plain);
    const found = entries
      .flatMap((entry) => SUFFIXES.flatMap((suffix) => [entry + suffix, `${entry}/index${suffix}`]))
      .map((entry) => posix.normalize(entry))
      .find((entry) => this.files.has(entry));
    return found === undefined ? [] : [found];
  }

  private pythonModule(path: string, name: string): readonly string[] {
    const dots = /^\.+/.exec(name)?.[0].length ?? 0;
    const parts = name
      .slice(dots)
      .split('.')
      .filter((part) => part !== '');
    const roots = dots > 0 ? [foldersAbove(path).at(dots - 1) ?? ''] : this.pythonRoots(path);
    for (const root of roots) {
      const found = parts.flatMap((_, index) => {
        const place = root + parts.slice(0, index + 1).join('/');
        return this.existing([`${place}.py`, `${place}/__init__.py`]);
      });
      const own = dots > 0 ? this.existing([`${root}__init__.py`]) : [];
      if (found.length + own.length > 0) return [...found, ...own];
    }
    return [];
  }

  /** Folders, with a `/` at the end, that an absolute import may start from. */
  private pythonRoots(path: string): readonly string[] {
    return foldersAbove(path).flatMap((folder) => [folder, `${folder}src/`, `${folder}lib/`]);
  }

  private packageAround(path: string): Package | undefined {
    return this.packages.find(({ folder }) => folder === '.' || path.startsWith(`${folder}/`));
  }

  private sourcesOf(one: Package | undefined): readonly string[] {
    if (one === undefined) return [];
    return [...this.files].filter((file) => file.startsWith(prefixOf(one.folder)) && file.endsWith('.rs'));
  }

  /** A Java class sees those of its package, whose tests lie in another source folder. */
  private samePackage(path: string): readonly string[] {
    const below = /(?:^|\/)(?:java|src)\/((?!test\/|main\/).*)\/[^/]+$/.exec(path)?.[1];
    if (below === undefined) return [];
    return [...this.byFolder.keys()]
      .filter((folder) => folder.endsWith(`/${below}`))
      .flatMap((folder) => this.inFolder(folder));
  }

  private endingWith(end: string): readonly string[] {
    return [...this.files].filter((file) => `/${file}`.endsWith(end));
  }

  private inFolder(folder: string): readonly string[] {
    return this.byFolder.get(posix.normalize(folder)) ?? [];
  }

  private existing(paths: readonly string[]): readonly string[] {
    return paths.filter((path) => this.files.has(path));
  }
}

const prefixOf = (folder: string) => (folder === '.' ? '' : `${folder}/`);

/** The folders that a path lies in, each with a `/` at the end, the innermost first and the root, empty, last. */
function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return [...parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/')}/`), ''];
}

/** Of a package's entries, every file that its manifest names, whatever the condition, and the usual ones. */
function nodePackage(text: string, folder: string): Package {
  try {
    const manifest = JSON.parse(text) as { name?: unknown; main?: unknown; module?: unknown; exports?: unknown };
    const named = [manifest.main, manifest.module, ...leaves(manifest.exports)];
    const entries = named.filter((entry): entry is string => typeof entry === 'string' && !entry.includes('*'));
    return {
      folder,
      name: typeof manifest.name === 'string' ? manifest.name : '',
      entries: [...entries, 'index', 'src/index', 'src/main', 'lib/index'].map((entry) => posix.join(folder, entry)),
    };
  } catch {
    return { folder, name: '', entries: [] };
  }
}

function leaves(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
}
