/** A way to put things in order. */
export interface Order<Thing> {
  /** Kept in the window's memory. */
  readonly id: string;
  /** For people, in the editor's language. */
  readonly title: () => string;
  /** What is compared; null, which comes last whichever way it goes, where the thing has none. Absent: the order as it is. */
  readonly of?: (thing: Thing) => number | string | null;
  /** The largest first. */
  readonly down?: boolean;
}

/** The things in that order; those that compare equal stay as they were. */
export function ordered<Thing>(things: readonly Thing[], { of, down = false }: Order<Thing>): readonly Thing[] {
  if (!of) return things;
  const keyed = things.map((thing) => ({ thing, key: of(thing) }));
  keyed.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    const sign = a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
    return down ? -sign : sign;
  });
  return keyed.map(({ thing }) => thing);
}

/** The order of that id, else the first. */
export const orderOf = <Thing>(orders: readonly Order<Thing>[], id: string | undefined): Order<Thing> =>
  orders.find((order) => order.id === id) ?? orders[0];
