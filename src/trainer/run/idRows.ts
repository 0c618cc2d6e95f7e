import { Column } from './column.js';
import { Numbered } from './numbered.js';

/**
 * Gives ids rows, in the order that they first come. An id is held as the numbers of its two parts, up to its last slash and
 * behind it: those of a run are places like `step-000007/task/3`, whose parts many share.
 */
export class IdRows {
  private readonly folders = new Numbered<string>();
  private readonly names = new Numbered<string>();
  private readonly folderOfRow = new Column(Int32Array);
  private readonly nameOfRow = new Column(Int32Array);
  /** A hash table with linear probing, at most half full: rows + 1, or 0. */
  private slots = new Int32Array(1 << 10);
  private count = 0;

  get size(): number {
    return this.count;
  }

  id(row: number): string {
    return this.folders.value(this.folderOfRow.at(row)) + this.names.value(this.nameOfRow.at(row));
  }

  /** Undefined where the id has none. */
  row(id: string): number | undefined {
    const [folder, name] = partsOf(id);
    const [folderNumber, nameNumber] = [this.folders.known(folder), this.names.known(name)];
    if (folderNumber === undefined || nameNumber === undefined) return undefined;
    const row = this.slots[this.slot(folderNumber, nameNumber)] - 1;
    return row < 0 ? undefined : row;
  }

  /** The id's row, a new one where it has none. */
  add(id: string): number {
    const [folder, name] = partsOf(id);
    const [folderNumber, nameNumber] = [this.folders.numberOf(folder, folder), this.names.numberOf(name, name)];
    const known = this.slots[this.slot(folderNumber, nameNumber)] - 1;
    if (known >= 0) return known;
    if (2 * (this.count + 1) > this.slots.length) this.grow();
    const row = this.count++;
    this.folderOfRow.set(row, folderNumber);
    this.nameOfRow.set(row, nameNumber);
    this.slots[this.slot(folderNumber, nameNumber)] = row + 1;
    return row;
  }

  private grow(): void {
    this.slots = new Int32Array(2 * this.slots.length);
    for (let row = 0; row < this.count; row++) {
      this.slots[this.slot(this.folderOfRow.at(row), this.nameOfRow.at(row))] = row + 1;
    }
  }

  /** Where these two parts stand in the hash table, or would. */
  private slot(folder: number, name: number): number {
    const last = this.slots.length - 1;
    for (let slot = hash(folder, name) & last; ; slot = (slot + 1) & last) {
      const row = this.slots[slot] - 1;
      if (row < 0 || (this.folderOfRow.at(row) === folder && this.nameOfRow.at(row) === name)) return slot;
    }
  }
}

function partsOf(id: string): [folder: string, name: string] {
  const cut = id.lastIndexOf('/') + 1;
  return [id.slice(0, cut), id.slice(cut)];
}

/** Mixes two numbers so that neighbours land far apart (the finalizer of MurmurHash3). */
function hash(a: number, b: number): number {
  let mixed = Math.imul(a, 0x9e3779b1) ^ b;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
