import { badInput, cancelled, type WhetstoneError } from '../../../trajectory/errors.js';
import { say, type Said } from '../../../trajectory/said.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RepositoryEnvironment } from '../../environment.js';
import type { FileChange } from '../../workspace/workspace.js';
import type { Baseline } from '../baseline.js';
import { languageOf } from '../injection/parsing.js';
import { ImportGraph } from '../selection/importGraph.js';
import type { TreePaths } from '../treePaths.js';
import { packageUnits, rootOf, type PackageUnit } from './packageUnits.js';
import { sabotage } from './sabotage.js';
import type { Parts, ReachSettings } from './parts.js';
import { described, findStranger, whyOutOfReach } from './whyOutOfReach.js';

/** Does a change in a worktree reach the tests? `reason`: one line; null where it does in every way. */
export interface Reach {
  /** Folder of the package, `.` for the root. */
  readonly folder: string;
  readonly reaches: boolean;
  readonly reason: Said | null;
}

/** A repository with more packages has the largest proven, and the rest taken for the same. */
const MAX_UNITS = 12;
const MAX_BROKEN_FILES = 1000;
/** Test files tried first, of the package itself and of each other that loads it: nearly always they say it, and cost little. */
const FIRST_FILES = 6;
const FILES_OF_OTHERS = 2;

/**
 * The canary: of each package, all sources that its tests load are broken so that loading them fails, and a test that
 * passed must not pass any more. Else what the tests load is not the worktree's: an installed copy, the user's own files,
 * something built.
 */
export async function proveReach(
  environment: RepositoryEnvironment,
  baseline: Baseline,
  { all, sources }: TreePaths,
  settings: ReachSettings,
): Promise<Reach[]> {
  const tree = await environment.openWorkspaceFromTree(environment.baseTree, '');
  try {
    const graph = await ImportGraph.of(tree.root, all, baseline.testFiles);
    const units = packageUnits(all, sources).slice(0, MAX_UNITS);
    const found: Reach[] = [];
    for (const unit of units)
      found.push(await proveUnit(unit, { environment, baseline, graph, units, tree, settings }));
    return found;
  } finally {
    await tree.dispose();
  }
}

/** Does the package that a path lies in not reach the tests? One that was not proven counts as one that does. */
export function isOutOfReach(reach: readonly Reach[], path: string): boolean {
  const around = reach.filter(({ folder }) => folder === '.' || path.startsWith(`${folder}/`));
  const depth = ({ folder }: Reach) => (folder === '.' ? 0 : folder.length);
  const [innermost] = around.sort((a, b) => depth(b) - depth(a));
  return innermost !== undefined && !innermost.reaches;
}

/** No package reaches the tests: nothing can be graded here. */
export function outOfReach(reach: readonly Reach[]): WhetstoneError {
  const reason = reach[0].reason ?? { message: '' };
  const words = reach.length > 1 ? say`${reason} So it is with ${reach.length - 1} more packages.` : reason;
  return badInput(words, 'Let the tests load the sources of the tree that they lie in.');
}

async function proveUnit(unit: PackageUnit, parts: Parts): Promise<Reach> {
  const { folder } = unit;
  const changes = await brokenSources(parts.tree.root, unit, parts.graph);
  const groups = testsByPackage(unit, parts);
  const few = [...groups].flatMap(([at, files]) => files.slice(0, at === folder ? FIRST_FILES : FILES_OF_OTHERS));
  const all = [...groups.values()].flat();
  const noticed = await noticingFiles(changes, few, parts);
  const deaf = [...groups].filter(([at, files]) => at !== folder && !files.some((file) => noticed.has(file)));
  if (noticed.size === 0 && all.length > few.length) {
    const later = await noticingFiles(changes, all, parts);
    if (later.size > 0) return { folder, reaches: true, reason: null };
  }
  if (noticed.size === 0) return { folder, reaches: false, reason: await whyOutOfReach(unit, parts) };
  const stranger = deaf.length > 0 ? await findStranger(unit, parts) : null;
  if (stranger === null) return { folder, reaches: true, reason: null };
  const others = deaf.map(([at]) => (at === '.' ? 'the root' : at)).join(', ');
  return { folder, reaches: true, reason: say`The tests of ${others} load ${described(stranger)}.` };
}

/** Those of the test files in which a test that passed does not pass any more; all, where the run gives no results. */
async function noticingFiles(
  changes: readonly FileChange[],
  testFiles: readonly string[],
  { environment, baseline, settings }: Parts,
): Promise<ReadonlySet<string>> {
  const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '', changes);
  try {
    const { outcome, results } = await workspace.runTests({ files: testFiles, ...settings });
    if (settings.signal?.aborted) throw cancelled();
    if (outcome !== 'completed') return new Set(testFiles);
    const stillPassing = new Set(results.flatMap(({ id, status }) => (status === 'passed' ? [id] : [])));
    const lost = baseline.reports[0].results.filter(({ id, status }) => status === 'passed' && !stillPassing.has(id));
    return new Set(lost.map(({ file }) => file).filter((file) => testFiles.includes(file)));
  } finally {
    await workspace.dispose();
  }
}

/** All sources that some test loads, as far as imports say; all there are where they say nothing. */
async function brokenSources(root: string, { sources }: PackageUnit, graph: ImportGraph): Promise<FileChange[]> {
  const loaded = sources.filter((path) => graph.isLoaded(path));
  const chosen = (loaded.length > 0 ? loaded : sources).slice(0, MAX_BROKEN_FILES);
  const changes = await Promise.all(
    chosen.map(async (path) => {
      const before = await readFile(join(root, ...path.split('/')), 'utf8').catch(() => null);
      const language = languageOf(path);
      return before === null || language === null ? [] : [{ path, before, after: sabotage(before, language) }];
    }),
  );
  return changes.flat();
}

/** Files of passing tests by the package that they lie in: those that load the unit, else those inside of it, else all. */
function testsByPackage(unit: PackageUnit, { baseline, graph, units }: Parts): Map<string, string[]> {
  const passing = baseline.reports[0].results.filter(({ status }) => status === 'passed').map(({ file }) => file);
  const files = [...new Set(passing)];
  const folders = units.map(({ folder }) => folder).sort((a, b) => b.length - a.length);
  const steps = graph.testsReaching(unit.sources);
  const groupOf = (file: string) => rootOf(file, folders);
  const pools = [files.filter((file) => steps.has(file)), files.filter((file) => groupOf(file) === unit.folder), files];
  const groups = new Map<string, string[]>();
  for (const file of pools.find((pool) => pool.length > 0) ?? []) {
    groups.set(groupOf(file), [...(groups.get(groupOf(file)) ?? []), file]);
  }
  return groups;
}
