import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ordered, orderOf, type Order } from './orders.js';

type Thing = { readonly at: number; readonly value: number | null };
const orders: readonly Order<Thing>[] = [
  { id: 'as-is', title: () => 'As it is' },
  { id: 'up', title: () => 'Up', of: ({ value }) => value },
  { id: 'down', title: () => 'Down', of: ({ value }) => value, down: true },
];
const [asIs, up, down] = orders;
const things = fc
  .array(fc.option(fc.integer({ min: -3, max: 3 }), { nil: null }))
  .map((values) => values.map((value, at): Thing => ({ at, value })));

describe('an order', () => {
  it('puts the least or the largest first, what has no value last, and leaves equals as they were', () => {
    fc.assert(
      fc.property(things, fc.constantFrom(up, down), (list, order) => {
        const sorted = ordered(list, order);
        expect([...sorted].sort((a, b) => a.at - b.at)).toEqual(list);
        for (const [index, b] of sorted.entries()) {
          const a = sorted[index - 1];
          if (index === 0 || b.value === null) continue;
          expect(a.value).not.toBeNull();
          const gain = (b.value - a.value!) * (order === down ? -1 : 1);
          expect(gain > 0 || (gain === 0 && a.at < b.at)).toBe(true);
        }
      }),
    );
  });

  it('can be to leave things as they are, and is that where nobody chose', () => {
    const list = [2, 1].map((value, at) => ({ at, value }));
    expect(ordered(list, asIs)).toBe(list);
    expect(orderOf(orders, undefined)).toBe(asIs);
    expect(orderOf(orders, 'one of an older version')).toBe(asIs);
    expect(orderOf(orders, 'down')).toBe(down);
  });
});
