/** A property that a list is filtered by. */
export interface Facet<Thing> {
  readonly title: string;
  /** The thing's values of this property, as a person reads them. */
  readonly valuesOf: (thing: Thing) => readonly string[];
}

/** What is shown, by the facet's title; a facet that is not named shows everything. */
export type Choice = ReadonlyMap<string, ReadonlySet<string>>;

export const noChoice: Choice = new Map();

/** True where, of each facet in which something was chosen, the thing has one of the chosen values. */
export function fits<Thing>(facets: readonly Facet<Thing>[], choice: Choice, thing: Thing): boolean {
  return facets.every(({ title, valuesOf }) => {
    const wanted = choice.get(title);
    return !wanted || wanted.size === 0 || valuesOf(thing).some((value) => wanted.has(value));
  });
}

/** A value that some thing has, and how many have it. */
export interface FacetValue {
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
  return facets.flatMap(({ title, valuesOf }) => {
    const counts = new Map([...(choice.get(title) ?? [])].map((value) => [value, 0]));
    for (const thing of things) for (const value of valuesOf(thing)) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts]
      .sort(([a, many], [b, more]) => more - many || a.localeCompare(b))
      .map(([value, count]) => ({ facet: title, value, count }));
  });
}

export function choiceOf(values: readonly Pick<FacetValue, 'facet' | 'value'>[]): Choice {
  const choice = new Map<string, Set<string>>();
  for (const { facet, value } of values) choice.set(facet, (choice.get(facet) ?? new Set()).add(value));
  return choice;
}

/** `split train; kind off-by-one, negation`; empty where nothing was chosen. */
export function choiceInWords(choice: Choice): string {
  return [...choice]
    .filter(([, values]) => values.size > 0)
    .map(([title, values]) => `${title.toLowerCase()} ${[...values].join(', ')}`)
    .join('; ');
}
