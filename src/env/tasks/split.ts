import type { TaskSplit } from '../../trajectory/task.js';
import { seededOrder } from './seededOrder.js';

/** What the split looks at: the files of a task's oracle, and for a finer split the function that it mends. */
export interface SplitItem {
  readonly files: readonly string[];
  readonly scope: string;
}

export interface Split {
  /** One for each item; null where the item's files would be on both sides, so that it has to go. */
  readonly splits: readonly (TaskSplit | null)[];
  /** Set where the split could not be made by file; says what was done. */
  readonly note: string | null;
}

const HELDOUT_SHARE = 0.3;

/**
 * Splits tasks into train and held-out so that no file of a held-out oracle is in a training oracle: whole groups of
 * tasks that share files go to one side. Where everything hangs together, tasks that span both sides are dropped;
 * where there is one file, functions (or single sites) take the place of files.
 */
export function splitTasks(items: readonly SplitItem[], seed: number): Split {
  const files = new Set(items.flatMap((item) => item.files));
  if (files.size >= 2) {
    const groups = connectedGroups(items);
    if (new Set(groups).size >= 2) return { splits: assign(groups, seed), note: null };
    return splitByFile(items, [...files], seed);
  }
  const scopes = items.map((item) => item.scope);
  if (new Set(scopes).size >= 2) {
    return {
      splits: assign(scopes, seed),
      note: 'All tasks are in one file, so the split is by function, not by file.',
    };
  }
  const sites = items.map((_, index) => String(index));
  return { splits: assign(sites, seed), note: 'All tasks are in one function, so the split is by site, not by file.' };
}

/** Every task belongs to one group; groups go to held-out, in the seed's order, as long as they fit. */
function assign(groups: readonly string[], seed: number): TaskSplit[] {
  const heldOut = chooseHeldOut(countBy(groups), seed);
  return groups.map((group) => (heldOut.has(group) ? 'heldout' : 'train'));
}

function splitByFile(items: readonly SplitItem[], files: readonly string[], seed: number): Split {
  const sizes = new Map(files.map((file) => [file, items.filter((item) => item.files.includes(file)).length]));
  const heldOut = chooseHeldOut(sizes, seed);
  const splits = items.map((item) => {
    const sides = new Set(item.files.map((file): TaskSplit => (heldOut.has(file) ? 'heldout' : 'train')));
    return sides.size === 1 ? [...sides][0] : null;
  });
  return { splits, note: 'Tasks that change files of both the training and the held-out side were dropped.' };
}

/** Names of the groups held out: at least one, never all, about HELDOUT_SHARE of the tasks. */
function chooseHeldOut(sizes: ReadonlyMap<string, number>, seed: number): ReadonlySet<string> {
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const wanted = Math.max(1, Math.round(total * HELDOUT_SHARE));
  const names = seededOrder([...sizes.keys()], seed, (name) => name);
  const chosen = new Set<string>();
  let count = 0;
  for (const name of names) {
    const size = sizes.get(name) ?? 0;
    if (count + size > wanted || chosen.size === names.length - 1) continue;
    chosen.add(name);
    count += size;
  }
  if (chosen.size === 0 && names.length >= 2) {
    chosen.add(names.reduce((least, name) => ((sizes.get(name) ?? 0) < (sizes.get(least) ?? 0) ? name : least)));
  }
  return chosen;
}

/** Group of each item: the first, by name, of the files that hang together through items that change several. */
function connectedGroups(items: readonly SplitItem[]): string[] {
  const leader = new Map<string, string>();
  const find = (file: string): string => {
    const above = leader.get(file) ?? file;
    return above === file ? file : find(above);
  };
  for (const { files } of items) {
    for (const file of files) {
      const [first, second] = [find(files[0]), find(file)].sort();
      leader.set(second, first);
    }
  }
  return items.map(({ files }) => find(files[0] ?? ''));
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
