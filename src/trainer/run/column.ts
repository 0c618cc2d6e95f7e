const rowBits = 12;
const inBlock = (1 << rowBits) - 1;

/** Numbers by row, 0 where none was set, in blocks: growing copies nothing, and a block without numbers takes no memory. */
export class Column {
  private readonly blocks: (Float64Array | Int32Array)[] = [];

  constructor(private readonly Block: typeof Float64Array | typeof Int32Array) {}

  at(row: number): number {
    return this.blocks[row >> rowBits]?.[row & inBlock] ?? 0;
  }

  set(row: number, value: number): void {
    const block = row >> rowBits;
    // Setting what is 0 already would take a block where none is needed.
    if (value === 0 && this.blocks[block] === undefined) return;
    (this.blocks[block] ??= new this.Block(inBlock + 1))[row & inBlock] = value;
  }
}
