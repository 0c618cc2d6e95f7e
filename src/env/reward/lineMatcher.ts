/** A piece of an edit script: a[aStart, aEnd) becomes b[bStart, bEnd). */
export interface Opcode {
  readonly tag: 'equal' | 'replace' | 'delete' | 'insert';
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** Below this number of lines no line counts as popular. */
const POPULAR_FROM = 200;

/**
 * The edit script of Python's `difflib.SequenceMatcher(None, a, b)` over lines, its default heuristic included: in a
 * `b` of at least 200 lines a line that makes up more than 1 % of them is 'popular' and starts no match.
 */
export function lineOpcodes(a: readonly string[], b: readonly string[]): Opcode[] {
  const opcodes: Opcode[] = [];
  let aDone = 0;
  let bDone = 0;
  for (const block of [...matchingBlocks(a, b), { a: a.length, b: b.length, size: 0 }]) {
    const removes = aDone < block.a;
    const adds = bDone < block.b;
    if (removes || adds) {
      const tag = removes && adds ? 'replace' : removes ? 'delete' : 'insert';
      opcodes.push({ tag, aStart: aDone, aEnd: block.a, bStart: bDone, bEnd: block.b });
    }
    aDone = block.a + block.size;
    bDone = block.b + block.size;
    if (block.size > 0) opcodes.push({ tag: 'equal', aStart: block.a, aEnd: aDone, bStart: block.b, bEnd: bDone });
  }
  return opcodes;
}

/** Maximal matching blocks in ascending order; adjacent ones are joined. */
function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const places = placesOfLines(b);
  const found: Block[] = [];
  const pending: [aStart: number, aEnd: number, bStart: number, bEnd: number][] = [[0, a.length, 0, b.length]];
  for (let range = pending.pop(); range; range = pending.pop()) {
    const [aStart, aEnd, bStart, bEnd] = range;
    const block = longestBlock(a, b, places, range);
    if (block.size === 0) continue;
    found.push(block);
    if (aStart < block.a && bStart < block.b) pending.push([aStart, block.a, bStart, block.b]);
    if (block.a + block.size < aEnd && block.b + block.size < bEnd) {
      pending.push([block.a + block.size, aEnd, block.b + block.size, bEnd]);
    }
  }
  found.sort((x, y) => x.a - y.a);
  const joined: Block[] = [];
  for (const block of found) {
    const last = joined.at(-1);
    if (last && last.a + last.size === block.a && last.b + last.size === block.b) {
      joined[joined.length - 1] = { ...last, size: last.size + block.size };
    } else joined.push(block);
  }
  return joined;
}

/** Ascending positions of each line in b, the popular ones left out. */
function placesOfLines(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of b.entries()) {
    const known = places.get(line);
    if (known) known.push(index);
    else places.set(line, [index]);
  }
  if (b.length >= POPULAR_FROM) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [line, indices] of places) if (indices.length > most) places.delete(line);
  }
  return places;
}

/**
 * The longest block without popular lines (of equals the earliest in a, of those the earliest in b), then stretched over
 * equal lines of any kind on both sides; where there is none, only what the ranges' beginnings share.
 */
function longestBlock(
  a: readonly string[],
  b: readonly string[],
  places: Map<string, number[]>,
  [aStart, aEnd, bStart, bEnd]: readonly [number, number, number, number],
): Block {
  let best = { a: aStart, b: bStart, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = aStart; i < aEnd; i++) {
    const grown = new Map<number, number>();
    for (const j of places.get(a[i]) ?? []) {
      if (j < bStart) continue;
      if (j >= bEnd) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      grown.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = grown;
  }
  let { a: first, b: other, size } = best;
  while (first > aStart && other > bStart && a[first - 1] === b[other - 1]) {
    first--;
    other--;
    size++;
  }
  while (first + size < aEnd && other + size < bEnd && a[first + size] === b[other + size]) size++;
  return { a: first, b: other, size };
}
