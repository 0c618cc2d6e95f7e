/** Cuts a list into pieces of at most `size` items. */
export function chunk(items, size) {
  if (size < 1) throw new RangeError('size must be at least 1');
  const pieces = [];
  for (let start = 0; start < items.length; start += size) {
    pieces.push(items.slice(start, start + size));
  }
  return pieces;
}

/** Pairs of neighbours: [a, b, c] gives [[a, b], [b, c]]. */
export function pairwise(items) {
  const pairs = [];
  for (let index = 1; index < items.length; index += 1) {
    pairs.push([items[index - 1], items[index]]);
  }
  return pairs;
}

/** Splits a list into the items that pass and those that do not. */
export function partition(items, accept) {
  const yes = [];
  const no = [];
  for (const item of items) {
    if (accept(item)) yes.push(item);
    else no.push(item);
  }
  return [yes, no];
}
