/** A property that a list is filtered by. */
export interface Facet<Thing> {
  readonly id: string;
  /** For people, in the editor's language. */
  readonly title: () => string;
  readonly valuesOf: (thing: Thing) => readonly string[];
  /** A value as a person reads it; absent: as it is. */
  readonly wordOf?: (value: string) => string;
}

/** What is shown, by the facet's id; a facet that is not named shows everything. */
export type Choice = ReadonlyMap<string, ReadonlySet<string>>;

export const noChoice: Choice = new Map();

/** True where, of each facet in which something was chosen, the thing has one of the chosen values. */
export function fits<Thing>(facets: readonly Facet<Thing>[], choice: Choice, thing: Thing): boolean {
  return facets.every(({ id, valuesOf }) => {
    const wanted = choice.get(id);
    return !wanted || wanted.size === 0 || valuesOf(thing).some((value) => wanted.has(value));
  });
}

/** A value that some thing has, and how many have it. */
export interface FacetValue {
  /** Its id. */
  readonly facet: string;
  readonly value: string;
  readonly count: number;
}

/** The values that can be chosen, facet by facet, most frequent first; chosen ones stay though nothing has them now. */
export function valuesOfFacets<Thing>(
  facets: readonly Facet<Thing>[],
  things: readonly Thing[],
  choice: Choice,
): readonly FacetValue[] {
  return facets.flatMap(({ id, valuesOf }) => {
    const counts = new Map([...(choice.get(id) ?? [])].map((value) => [value, 0]));
    for (const thing of things) for (const value of valuesOf(thing)) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts]
      .sort(([a, many], [b, more]) => more - many || a.localeCompare(b))
      .map(([value, count]) => ({ facet: id, value, count }));
  });
}

export function choiceOf(values: readonly Pick<FacetValue, 'facet' | 'value'>[]): Choice {
  const choice = new Map<string, Set<string>>();
  for (const { facet, value } of values) choice.set(facet, (choice.get(facet) ?? new Set()).add(value));
  return choice;
}

/** Words for the values of a facet, by the value. */
export const wordIn =
  (words: Readonly<Record<string, (() => string) | undefined>>) =>
  (value: string): string =>
    words[value]?.() ?? value;

/** What a value of a facet is called. */
export const wordOfValue = <Thing>({ wordOf }: Facet<Thing>, value: string): string => wordOf?.(value) ?? value;

/** True where something was chosen. */
export const isChosen = (choice: Choice): boolean => [...choice.values()].some((values) => values.size > 0);

/** `split train; kind off-by-one, negation`; empty where nothing was chosen. */
export function choiceInWords<Thing>(facets: readonly Facet<Thing>[], choice: Choice): string {
  return facets
    .flatMap((facet) => {
      const values = [...(choice.get(facet.id) ?? [])].map((value) => wordOfValue(facet, value));
      return values.length === 0 ? [] : [`${facet.title().toLowerCase()} ${values.join(', ')}`];
    })
    .join('; ');
}
