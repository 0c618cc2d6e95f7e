/** Counts how often each item was added. */
export class Bag {
  #counts = new Map();

  constructor(items = []) {
    for (const item of items) this.add(item);
  }

  add(item, times = 1) {
    this.#counts.set(item, this.count(item) + times);
    return this;
  }

  remove(item) {
    const count = this.count(item);
    if (count > 1) {
      this.#counts.set(item, count - 1);
    } else {
      this.#counts.delete(item);
    }
    return count > 0;
  }

  count(item) {
    return this.#counts.get(item) ?? 0;
  }

  get total() {
    let total = 0;
    for (const count of this.#counts.values()) total += count;
    return total;
  }

  /** The `limit` most frequent items, most frequent first. */
  mostCommon(limit) {
    const entries = [...this.#counts].sort((a, b) => b[1] - a[1]);
    return entries.slice(0, limit).map(([item]) => item);
  }
}
