/** A ring buffer: when it is full, the oldest item makes room. */
export class RingQueue {
  #items;
  #head = 0;
  #size = 0;

  constructor(capacity) {
    if (capacity < 1) throw new RangeError('capacity must be at least 1');
    this.#items = new Array(capacity);
  }

  get size() {
    return this.#size;
  }

  get full() {
    return this.#size === this.#items.length;
  }

  push(item) {
    const slot = (this.#head + this.#size) % this.#items.length;
    this.#items[slot] = item;
    if (this.full) {
      this.#head = (this.#head + 1) % this.#items.length;
    } else {
      this.#size += 1;
    }
  }

  shift() {
    if (this.#size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#head = (this.#head + 1) % this.#items.length;
    this.#size -= 1;
    return item;
  }
}
