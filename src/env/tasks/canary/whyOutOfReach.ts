import { lstat, readFile, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { say, type Said } from '../../../trajectory/said.js';
import { isInside } from '../../sandbox/toolchain.js';
import type { PackageUnit } from './packageUnits.js';
import type { Parts } from './parts.js';

/** Where a module comes from that the tests load in the place of the worktree's. */
export interface Stranger {
  readonly name: string;
  readonly from: string;
  readonly how: Said;
}

/** One line that says what the tests load in the place of a package's sources. */
export async function whyOutOfReach(unit: PackageUnit, parts: Parts): Promise<Said> {
  const where = unit.folder === '.' ? say`the repository` : unit.folder;
  const stranger = await findStranger(unit, parts);
  if (stranger !== null) return say`A change of ${where} does not reach the tests: they load ${described(stranger)}.`;
  const built = parts.graph.loadedBelow(unit.folder).find((path) => BUILT.test(path));
  if (built !== undefined) {
    return say`A change of ${where} does not reach the tests: they load ${built}, which is built and not built again before they run.`;
  }
  if (parts.graph.testsReaching(unit.sources).size === 0) return say`No test of ${where} loads its sources.`;
  return say`A change of ${where} does not reach the tests: they pass also where none of its sources can be loaded.`;
}

/** The package where it is installed, if that is not the worktree's; null where nothing is found. */
export async function findStranger(unit: PackageUnit, parts: Parts): Promise<Stranger | null> {
  return (await installedNodePackage(unit, parts)) ?? (await installedPythonModule(unit, parts));
}

export const described = ({ name, from, how }: Stranger) => say`${name} from ${from}, ${how}`;

const BUILT = /(^|\/)(dist|build|out|lib|esm|cjs|umd|target)\/|\.min\.[cm]?js$/;

/** `node_modules/<name of the package>`, around it or where other packages are, where that is not the worktree's folder. */
async function installedNodePackage({ folder }: PackageUnit, { environment, tree }: Parts): Promise<Stranger | null> {
  const name = await nodeName(join(tree.root, folder, 'package.json'));
  if (name === null) return null;
  const { repoRoot, repository } = environment;
  for (const dependencies of await repository.dependencyFolders()) {
    if (posix.basename(dependencies) !== 'node_modules') continue;
    const place = join(repoRoot, dependencies, ...name.split('/'));
    const found = await lstat(place).catch(() => null);
    if (found === null) continue;
    const shown = posix.join(dependencies, name);
    if (!found.isSymbolicLink())
      return { name, from: shown, how: say`an installed copy; link it, as npm workspaces do` };
    const target = await realpath(place).catch(() => null);
    if (target === null) continue;
    if (!isInside(target, repoRoot)) return { name, from: target, how: say`outside of the repository` };
    if (tree.mountPath !== repoRoot) {
      return { name, from: target, how: say`your own file; a sandbox puts the worktree in its place, so choose one` };
    }
  }
  return null;
}

async function nodeName(manifest: string): Promise<string | null> {
  try {
    const { name } = JSON.parse(await readFile(manifest, 'utf8')) as { name?: unknown };
    return typeof name === 'string' && /^(@[\w.-]+\/)?[\w.-]+$/.test(name) ? name : null;
  } catch {
    return null;
  }
}

/** Prints where each module named in the arguments would be loaded from, the tree's own folder left aside. */
const PYTHON_QUESTION = [
  'import importlib.util, os, sys',
  'sys.path = [p for p in sys.path if p not in ("", os.getcwd())]',
  'for name in sys.argv[1:]:',
  '    try: spec = importlib.util.find_spec(name)',
  '    except Exception: spec = None',
  '    places = list(spec.submodule_search_locations or []) if spec else []',
  '    place = (spec.origin if spec and spec.origin else None) or (places[0] if places else "")',
  '    print(name, place, sep="\\t")',
].join('\n');

async function installedPythonModule(unit: PackageUnit, parts: Parts): Promise<Stranger | null> {
  const { environment, baseline, tree, settings } = parts;
  const names = pythonModules(unit);
  const isPython = ({ testFiles }: { testFiles: readonly string[] }) =>
    testFiles.some((file) => file.endsWith('.py') && baseline.testFiles.includes(file));
  const part = environment.suites.parts.find(isPython);
  if (names.length === 0 || part === undefined) return null;
  const { output } = await tree.run({
    // Its first word is the Python that runs the tests.
    argv: [part.runner.check.argv[0], '-c', PYTHON_QUESTION, ...names],
    cwd: part.root,
    timeoutMs: 30_000,
    maxOutputBytes: 65_536,
    signal: settings.signal,
  });
  for (const line of output.split('\n')) {
    const [name, from] = line.trim().split('\t');
    if (!names.includes(name) || !from) continue;
    const isCopy = /[\\/](site|dist)-packages[\\/]/.test(from);
    if (!isCopy && isInside(from, tree.mountPath)) continue;
    const how = isCopy
      ? say`an installed copy; install it with \`pip install --editable .\``
      : say`your own file; a sandbox puts the worktree in its place, so choose one`;
    return { name, from, how };
  }
  return null;
}

/** Names that the modules are imported by: folders with an `__init__.py` around which is none, and modules that lie in none. */
function pythonModules({ sources }: PackageUnit): string[] {
  const modules = sources.filter((path) => path.endsWith('.py'));
  const packages = new Set(
    modules.filter((path) => posix.basename(path) === '__init__.py').map((path) => posix.dirname(path)),
  );
  const outermost = [...packages].filter((folder) => folder !== '.' && !packages.has(posix.dirname(folder)));
  const loose = modules.filter((path) => !packages.has(posix.dirname(path)));
  const names = [
    ...outermost.map((folder) => posix.basename(folder)),
    ...loose.map((path) => posix.basename(path, '.py')),
  ];
  return [...new Set(names)].slice(0, 20);
}
