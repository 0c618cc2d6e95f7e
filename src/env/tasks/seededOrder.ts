import { createHash } from 'node:crypto';

/** The items in an order that the seed and the items' keys fix, whatever order they came in. */
export function seededOrder<Item>(items: readonly Item[], seed: number | string, key: (item: Item) => string): Item[] {
  const keyed = items.map((item) => ({
    item,
    rank: createHash('sha256')
      .update(JSON.stringify([seed, key(item)]))
      .digest('hex'),
  }));
  return keyed.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0)).map(({ item }) => item);
}
