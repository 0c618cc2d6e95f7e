import { describe, expect, it } from 'vitest';
import { choiceInWords, choiceOf, fits, isChosen, noChoice, valuesOfFacets, type Facet } from './facets.js';

interface Dish {
  readonly name: string;
  readonly course: string;
  readonly spices: readonly string[];
}
const facets: readonly Facet<Dish>[] = [
  { id: 'course', title: () => 'Course', valuesOf: ({ course }) => [course], wordOf: (course) => `${course} course` },
  { id: 'spice', title: () => 'Spice', valuesOf: ({ spices }) => spices },
];
const dishes: readonly Dish[] = [
  { name: 'soup', course: 'first', spices: ['pepper'] },
  { name: 'roast', course: 'main', spices: ['pepper', 'thyme'] },
  { name: 'curry', course: 'main', spices: ['cumin'] },
];
const shown = (choice: Parameters<typeof choiceOf>[0]) =>
  dishes.filter((dish) => fits(facets, choiceOf(choice), dish)).map(({ name }) => name);

describe('a filter by facets', () => {
  it('shows everything where nothing was chosen', () => {
    expect(dishes.every((dish) => fits(facets, noChoice, dish))).toBe(true);
  });

  it('wants one of the values of a facet, and this of each facet', () => {
    const [pepper, cumin] = ['pepper', 'cumin'].map((value) => ({ facet: 'spice', value }));
    expect(shown([pepper, cumin])).toEqual(['soup', 'roast', 'curry']);
    expect(shown([pepper, { facet: 'course', value: 'main' }])).toEqual(['roast']);
  });

  it('offers what there is, most frequent first, and what was chosen though it is gone', () => {
    const offered = valuesOfFacets(facets, dishes, choiceOf([{ facet: 'spice', value: 'salt' }]));
    expect(offered.map(({ value, count }) => `${value} ${count}`)).toEqual([
      ...['main 2', 'first 1'],
      ...['pepper 2', 'cumin 1', 'thyme 1', 'salt 0'],
    ]);
  });

  it('says in words what it shows', () => {
    const choice = choiceOf([
      { facet: 'course', value: 'main' },
      { facet: 'spice', value: 'thyme' },
      { facet: 'spice', value: 'cumin' },
    ]);
    expect(choiceInWords(facets, choice)).toBe('course main course; spice thyme, cumin');
    expect(choiceInWords(facets, noChoice)).toBe('');
    expect([isChosen(choice), isChosen(noChoice), isChosen(new Map([['spice', new Set<string>()]]))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
