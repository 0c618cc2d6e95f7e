import { describe, expect, it } from 'vitest';
import { choiceInWords, choiceOf, fits, noChoice, valuesOfFacets, type Facet } from './facets.js';

interface Dish {
  readonly name: string;
  readonly course: string;
  readonly spices: readonly string[];
}
const facets: readonly Facet<Dish>[] = [
  { title: 'Course', valuesOf: ({ course }) => [course] },
  { title: 'Spice', valuesOf: ({ spices }) => spices },
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
    const [pepper, cumin] = ['pepper', 'cumin'].map((value) => ({ facet: 'Spice', value }));
    expect(shown([pepper, cumin])).toEqual(['soup', 'roast', 'curry']);
    expect(shown([pepper, { facet: 'Course', value: 'main' }])).toEqual(['roast']);
  });

  it('offers what there is, most frequent first, and what was chosen though it is gone', () => {
    const offered = valuesOfFacets(facets, dishes, choiceOf([{ facet: 'Spice', value: 'salt' }]));
    expect(offered.map(({ value, count }) => `${value} ${count}`)).toEqual([
      ...['main 2', 'first 1'],
      ...['pepper 2', 'cumin 1', 'thyme 1', 'salt 0'],
    ]);
  });

  it('says in words what it shows', () => {
    const choice = choiceOf([
      { facet: 'Course', value: 'main' },
      { facet: 'Spice', value: 'thyme' },
      { facet: 'Spice', value: 'cumin' },
    ]);
    expect(choiceInWords(choice)).toBe('course main; spice thyme, cumin');
    expect(choiceInWords(noChoice)).toBe('');
  });
});
