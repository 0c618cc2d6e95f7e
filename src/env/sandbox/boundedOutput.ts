/**
 * Keeps the first and the last part of a stream of bytes, so that a process that never stops printing costs no more
 * memory than `limit`, and both the beginning and the end of what it printed survive.
 */
export class BoundedOutput {
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private tail: Buffer[] = [];
  private tailBytes = 0;
  private total = 0;
  private readonly headLimit: number;
  private readonly tailLimit: number;

  constructor(limit: number) {
    this.headLimit = Math.ceil(limit / 2);
    this.tailLimit = Math.floor(limit / 2);
  }

  add(chunk: Buffer): void {
    this.total += chunk.length;
    const room = Math.min(this.headLimit - this.headBytes, chunk.length);
    if (room > 0) {
      this.head.push(chunk.subarray(0, room));
      this.headBytes += room;
    }
    const rest = chunk.subarray(room);
    if (rest.length === 0) return;
    this.tail.push(rest);
    this.tailBytes += rest.length;
    // Joined only when twice over the limit: then each byte is copied a bounded number of times.
    if (this.tailBytes > 2 * this.tailLimit + 65536) this.trimTail();
  }

  get truncated(): boolean {
    return this.total > this.headLimit + this.tailLimit;
  }

  /** The text, with a line in the middle that says how much was cut. A character that the cut split is left out. */
  toString(): string {
    this.trimTail();
    const head = Buffer.concat(this.head);
    const tail = Buffer.concat(this.tail);
    if (!this.truncated) return Buffer.concat([head, tail]).toString('utf8');
    const cut = this.total - head.length - tail.length;
    return `${withoutSplitEnd(head)}\n[… ${cut} bytes cut …]\n${withoutSplitStart(tail)}`;
  }

  private trimTail(): void {
    if (this.tailBytes <= this.tailLimit) return;
    const joined = Buffer.concat(this.tail);
    // Copied, so that the large buffer can be freed.
    const kept = Buffer.from(joined.subarray(joined.length - this.tailLimit));
    this.tail = [kept];
    this.tailBytes = kept.length;
  }
}

const isContinuation = (byte: number) => (byte & 0b1100_0000) === 0b1000_0000;

function withoutSplitStart(bytes: Buffer): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start).toString('utf8');
}

function withoutSplitEnd(bytes: Buffer): string {
  let lead = bytes.length - 1;
  while (lead > Math.max(0, bytes.length - 4) && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead] ?? 0;
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  const complete = width === 1 || lead + width <= bytes.length;
  return bytes.subarray(0, complete ? bytes.length : lead).toString('utf8');
}
