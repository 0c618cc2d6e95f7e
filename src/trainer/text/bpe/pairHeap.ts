interface Pair {
  readonly left: number;
  readonly right: number;
  count: number;
  /** Words that held the pair at some time. */
  readonly words: Set<number>;
}

interface HeapEntry {
  readonly pair: Pair;
  /** The pair's count when the entry was made; another count now makes the entry stale. */
  readonly count: number;
}

/** Counts of adjacent token pairs, with the most frequent at hand. Ids are below 2^24. */
export class PairHeap {
  private readonly pairs = new Map<number, Pair>();
  private readonly heap: HeapEntry[] = [];
  private readonly changed = new Set<Pair>();

  /** Adds `count` (negative to take away) occurrences of a pair in a word. */
  add(left: number, right: number, count: number, word: number): void {
    const key = left * 2 ** 24 + right;
    let pair = this.pairs.get(key);
    if (pair === undefined) this.pairs.set(key, (pair = { left, right, count: 0, words: new Set() }));
    pair.count += count;
    if (count > 0) pair.words.add(word);
    this.changed.add(pair);
  }

  /** Takes the most frequent pair out; null where no pair occurs twice. Ties go to the lower ids. */
  takeMostFrequent(): { left: number; right: number; words: readonly number[] } | null {
    for (const pair of this.changed) if (pair.count > 1) this.push({ pair, count: pair.count });
    this.changed.clear();
    for (;;) {
      const top = this.pop();
      if (top === undefined) return null;
      if (top.count !== top.pair.count) continue;
      this.pairs.delete(top.pair.left * 2 ** 24 + top.pair.right);
      return { left: top.pair.left, right: top.pair.right, words: [...top.pair.words] };
    }
  }

  private push(entry: HeapEntry): void {
    let child = this.heap.push(entry) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!before(this.heap[child]!, this.heap[parent]!)) return;
      this.swap(child, parent);
      child = parent;
    }
  }

  private pop(): HeapEntry | undefined {
    const top = this.heap[0];
    const last = this.heap.pop();
    if (top === undefined || last === undefined || this.heap.length === 0) return top;
    this.heap[0] = last;
    let parent = 0;
    for (;;) {
      let first = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < this.heap.length && before(this.heap[child]!, this.heap[first]!)) first = child;
      if (first === parent) return top;
      this.swap(parent, first);
      parent = first;
    }
  }

  private swap(a: number, b: number): void {
    [this.heap[a], this.heap[b]] = [this.heap[b]!, this.heap[a]!];
  }
}

function before(a: HeapEntry, b: HeapEntry): boolean {
  if (a.count !== b.count) return a.count > b.count;
  return a.pair.left !== b.pair.left ? a.pair.left < b.pair.left : a.pair.right < b.pair.right;
}
