import type { FileChange } from '../../workspace/workspace.js';
import { seededOrder } from '../seededOrder.js';
import type { BugCandidate } from './candidates.js';
import { applySite } from './operator.js';
import { countSyntaxErrors, languageOf, parseSource } from './parsing.js';

/**
 * Bugs put in together, as changes of files in the order of their paths. Null where two of them are in one function or
 * the result no longer parses.
 */
export function combineBugs(bugs: readonly BugCandidate[]): FileChange[] | null {
  const scopes = new Set(bugs.map(({ path, scopeLine }) => `${path}:${scopeLine}`));
  if (scopes.size < bugs.length) return null;
  const paths = [...new Set(bugs.map(({ path }) => path))].sort();
  const changes = paths.map((path) => combineInFile(bugs.filter((bug) => bug.path === path)));
  return changes.every((change) => change !== null) ? changes : null;
}

function combineInFile(bugs: readonly BugCandidate[]): FileChange | null {
  const [{ path, before, after }] = bugs;
  if (bugs.length === 1) return { path, before, after };
  const fromTheEnd = [...bugs].sort((a, b) => b.site.start - a.site.start);
  const overlaps = fromTheEnd.slice(1).some(({ site }, index) => site.end > fromTheEnd[index].site.start);
  const language = languageOf(path);
  if (overlaps || language === null) return null;
  const broken = fromTheEnd.reduce((text, { site }) => applySite(text, site), before);
  const errors = (text: string) => countSyntaxErrors(parseSource(text, language).root);
  return errors(broken) > errors(before) ? null : { path, before, after: broken };
}

/** A bug that is a task by itself, and the tests that it fails. */
export interface ProvenBug<Draft> {
  readonly bug: BugCandidate;
  readonly draft: Draft;
  readonly breaks: readonly string[];
}

/** Files of a large repository are put together in this many groups; in a small one each file stands alone. */
const GROUPS = 8;
const MOST_BUGS = 3;
/** Every so many tasks of several bugs one has as many as there may be. */
const LARGE_EVERY = 4;

/**
 * Bugs set aside to be put together with others of the same group of files, so that the tasks of several bugs do not tie
 * all files together, which could not be split into train and held-out any more.
 */
export class BugPool<Draft> {
  private readonly groups: ReadonlyMap<string, number>;
  private readonly waiting = new Map<number, ProvenBug<Draft>>();
  private taken = 0;

  constructor(paths: readonly string[], seed: number) {
    const isLarge = paths.length >= 2 * GROUPS;
    const order = seededOrder(paths, `${seed} groups`, (path) => path);
    this.groups = new Map(order.map((path, index) => [path, isLarge ? index % GROUPS : index]));
  }

  /** Is the n-th candidate meant to be one of several? About one task in four has more than one bug. */
  isMeant(ordinal: number): boolean {
    return ordinal % 5 < 2;
  }

  add(ordinal: number, proven: ProvenBug<Draft>): void {
    this.waiting.set(ordinal, proven);
  }

  /** Bugs that fit together, taken out of the pool: none where there are none. Does not depend on the order of adding. */
  take(): readonly ProvenBug<Draft>[] {
    const ordinals = [...this.waiting.keys()].sort((a, b) => a - b);
    const wanted = this.taken % LARGE_EVERY === LARGE_EVERY - 1 ? MOST_BUGS : 2;
    for (const first of ordinals) {
      const chosen = [first];
      for (const other of ordinals) if (chosen.length < wanted && this.fits([...chosen, other])) chosen.push(other);
      if (chosen.length < wanted) continue;
      this.taken += 1;
      return chosen.flatMap((ordinal) => this.remove(ordinal));
    }
    return [];
  }

  /** What has found no other, in the order of the candidates. */
  rest(): readonly ProvenBug<Draft>[] {
    const ordinals = [...this.waiting.keys()].sort((a, b) => a - b);
    return ordinals.flatMap((ordinal) => this.remove(ordinal));
  }

  private remove(ordinal: number): ProvenBug<Draft>[] {
    const proven = this.waiting.get(ordinal);
    this.waiting.delete(ordinal);
    return proven === undefined ? [] : [proven];
  }

  private fits(ordinals: readonly number[]): boolean {
    if (new Set(ordinals).size < ordinals.length) return false;
    const bugs = ordinals.flatMap((ordinal) => this.waiting.get(ordinal) ?? []);
    const groups = new Set(bugs.map(({ bug }) => this.groups.get(bug.path)));
    return groups.size === 1 && differ(bugs) && combineBugs(bugs.map(({ bug }) => bug)) !== null;
  }
}

/** Does every bug fail other tests than each of the others? */
const differ = (bugs: readonly { readonly breaks: readonly string[] }[]) =>
  new Set(bugs.map(({ breaks }) => [...breaks].sort().join('\n'))).size === bugs.length;

/**
 * Is each bug needed? All tests that a bug fails alone have to fail with all bugs in: none hides another, so that the
 * tests of a bug that stays keep the task unsolved.
 */
export function areAllNeeded(
  bugs: readonly { readonly breaks: readonly string[] }[],
  failing: readonly string[],
): boolean {
  return (
    differ(bugs) && bugs.every(({ breaks }) => breaks.length > 0 && breaks.every((test) => failing.includes(test)))
  );
}
