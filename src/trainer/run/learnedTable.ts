import { Column } from './column.js';
import { IdRows } from './idRows.js';
import type { LearnedLine } from './runSchemas.js';

/** The lines of `learned.jsonl` in memory, the newest of each trajectory. */
export class LearnedTable {
  private readonly ids = new IdRows();
  private readonly step = new Column(Float64Array);
  private readonly offset = new Column(Float64Array);
  private readonly tokens = new Column(Float64Array);

  add({ trajectoryId, step, block }: LearnedLine): void {
    const row = this.ids.add(trajectoryId);
    this.step.set(row, step);
    this.offset.set(row, block.offset);
    this.tokens.set(row, block.tokens);
  }

  /** Undefined where nothing was learned from the trajectory. */
  of(trajectoryId: string): Omit<LearnedLine, 'trajectoryId'> | undefined {
    const row = this.ids.row(trajectoryId);
    if (row === undefined) return undefined;
    return { step: this.step.at(row), block: { offset: this.offset.at(row), tokens: this.tokens.at(row) } };
  }
}
