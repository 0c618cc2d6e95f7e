import type { Baseline } from '../baseline.js';
import { ImportGraph } from './importGraph.js';
import { closeness } from './closeness.js';

/** A look at which tests notice a bug, once per function, may take this many times as long as a task's grading. */
const SCOUTING = 10;

/**
 * Chooses the tests that a task is graded by: all of them where that is fast, else those that load what is broken, the
 * closest first, as many as the time allows.
 */
export class TestSelector {
  private readonly ranked = new Map<string, Promise<readonly string[]>>();

  private constructor(
    private readonly tree: string,
    private readonly baseline: Baseline,
    private readonly graph: ImportGraph | null,
    private readonly gradingMs: number,
  ) {}

  /** `files`: all paths of the base tree. `gradingMs`: about how long one run of a task's tests may take. */
  static async of(
    tree: string,
    files: readonly string[],
    baseline: Baseline,
    gradingMs: number,
  ): Promise<TestSelector> {
    const isFast = baseline.durationMs <= gradingMs;
    const graph = isFast ? null : await ImportGraph.of(tree, files, baseline.testFiles);
    return new TestSelector(tree, baseline, graph, gradingMs);
  }

  /**
   * Test files, sorted, for a change of `paths`; those in `noticing` come before all others. At least two tests of them pass in
   * the base tree, where two do.
   */
  filesFor(paths: readonly string[], noticing: readonly string[] = []): Promise<readonly string[]> {
    return this.within(this.gradingMs, paths, noticing);
  }

  /** More test files than a task is graded by, to find out which of them notice a change of `paths`. */
  filesToScout(paths: readonly string[]): Promise<readonly string[]> {
    return this.within(SCOUTING * this.gradingMs, paths, []);
  }

  private async within(
    milliseconds: number,
    paths: readonly string[],
    noticing: readonly string[],
  ): Promise<readonly string[]> {
    const { testFiles, reports } = this.baseline;
    if (this.graph === null) return testFiles;
    const byCloseness = await this.byCloseness(this.graph, paths);
    const ranked = [...noticing, ...byCloseness.filter((file) => !noticing.includes(file))];
    const room = roomFor(this.baseline, milliseconds);
    const passing = (file: string) =>
      reports[0].results.filter((result) => result.file === file && result.status === 'passed').length;
    const chosen: string[] = [];
    let passed = 0;
    for (const file of ranked) {
      if (chosen.length >= room && passed > 1) break;
      chosen.push(file);
      passed += passing(file);
    }
    return chosen.sort();
  }

  private byCloseness(graph: ImportGraph, paths: readonly string[]): Promise<readonly string[]> {
    const { testFiles } = this.baseline;
    const key = JSON.stringify(paths);
    const reaching = graph.testsReaching(paths);
    const pool = reaching.size > 0 ? testFiles.filter((file) => reaching.has(file)) : testFiles;
    const ranked = this.ranked.get(key) ?? rankTests(this.tree, pool, paths, reaching);
    this.ranked.set(key, ranked);
    return ranked;
  }
}

/**
 * The test files, sorted, that a commit's task is graded by: those that the commit changes, and as many others of its tree as
 * the time allows, the ones that speak of its files first.
 */
export async function testsForCommit(
  tree: string,
  testFiles: readonly string[],
  commit: { readonly sourceFiles: readonly string[]; readonly testFiles: readonly string[] },
  baseline: Baseline,
  gradingMs: number,
): Promise<readonly string[]> {
  const ranked = await rankTests(tree, testFiles, [...commit.testFiles, ...commit.sourceFiles]);
  const changed = ranked.filter((file) => commit.testFiles.includes(file));
  return ranked.slice(0, Math.max(changed.length, roomFor(baseline, gradingMs))).sort();
}

/** Test files that run in the time, each taken for as slow as the others; at least one. */
const roomFor = ({ testFiles, durationMs }: Baseline, gradingMs: number) =>
  durationMs <= gradingMs ? Infinity : Math.max(1, Math.floor((gradingMs * testFiles.length) / durationMs));

/** The pool in the order of closeness to the paths: by name and mention, then by steps of imports, then by path. */
export async function rankTests(
  tree: string,
  pool: readonly string[],
  paths: readonly string[],
  steps: ReadonlyMap<string, number> = new Map(),
): Promise<readonly string[]> {
  const weights = new Map(
    await Promise.all(pool.map(async (file) => [file, await closeness(tree, file, paths)] as const)),
  );
  const weight = (file: string) => weights.get(file) ?? 0;
  const distance = (file: string) => steps.get(file) ?? Infinity;
  const byDistance = (a: string, b: string) => (distance(a) === distance(b) ? 0 : distance(a) - distance(b));
  return [...pool].sort((a, b) => weight(b) - weight(a) || byDistance(a, b) || (a < b ? -1 : 1));
}
