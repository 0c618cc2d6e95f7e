/** What the variety of tasks is judged by. */
export interface Varied {
  readonly failToPass: readonly string[];
  readonly label: { readonly kind: string };
  readonly files: readonly string[];
}

/** How many more tasks than wanted are looked for, so that there is something to choose from. */
export const CHOICE = 1.25;

/**
 * As many of the items as wanted, in their order: one after the other the one whose kind, files and difficulty were taken
 * least so far. Few failing tests make a task hard, since they tell little of where to look.
 */
export function mostVaried<Item extends Varied>(items: readonly Item[], wanted: number): Item[] {
  const taken = new Map<string, number>();
  const chosen = new Set<Item>();
  while (chosen.size < Math.min(wanted, items.length)) {
    const rest = items.filter((item) => !chosen.has(item));
    const seldom = (item: Item) => traits(item).reduce((sum, trait) => sum + (taken.get(trait) ?? 0), 0);
    const next = rest.reduce((best, item) => (seldom(item) < seldom(best) ? item : best));
    chosen.add(next);
    for (const trait of traits(next)) taken.set(trait, (taken.get(trait) ?? 0) + 1);
  }
  return items.filter((item) => chosen.has(item));
}

function traits({ failToPass, label, files }: Varied): string[] {
  return [`kind ${label.kind}`, `files ${files.join('\n')}`, `difficulty ${difficulty(failToPass.length)}`];
}

/** One failing test, up to 4, up to 16, and so on. */
const difficulty = (failing: number) => Math.ceil(Math.log(failing) / Math.log(4));
