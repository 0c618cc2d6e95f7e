import { Column } from './column.js';
import { IdRows } from './idRows.js';
import { Numbered } from './numbered.js';
import type { TrajectoryHeader } from './runRecord.js';

/** A trajectory's header and where its line lies in `trajectories.jsonl`, in bytes without the newline. */
export interface IndexedHeader {
  readonly header: TrajectoryHeader;
  readonly offset: number;
  readonly length: number;
}

/** What many headers have in common. */
type Common = Pick<
  TrajectoryHeader,
  'kind' | 'resolved' | 'stopReason' | 'tools' | 'infrastructureError' | 'infrastructurePhrase' | 'sandbox'
>;

/**
 * The headers of a run in memory, one an id, in the order that the ids first came: about 110 bytes each, so that a run of a
 * hundred thousand trajectories weighs little on whoever reads it. Headers are made anew for whoever asks.
 */
export class HeaderTable {
  private readonly ids = new IdRows();
  private readonly tasks = new Numbered<string>();
  private readonly commons = new Numbered<Common>();
  private readonly taskOfRow = new Column(Int32Array);
  private readonly commonOfRow = new Column(Int32Array);
  private readonly step = new Column(Float64Array);
  private readonly sample = new Column(Float64Array);
  private readonly turns = new Column(Float64Array);
  private readonly tokens = new Column(Float64Array);
  private readonly seconds = new Column(Float64Array);
  /** NaN where it is null. */
  private readonly reward = new Column(Float64Array);
  private readonly offset = new Column(Float64Array);
  private readonly length = new Column(Float64Array);
  private readonly origins = new Numbered<string>();
  /** Number of the origin's id + 1; 0 where there is none. */
  private readonly originOfRow = new Column(Int32Array);
  private readonly turnOfOrigin = new Column(Float64Array);
  /** Headers of the first rows that were made for somebody. */
  private made?: WeakRef<TrajectoryHeader[]>;

  /** Takes the place of an earlier one of the same id. */
  add({ header, offset, length }: IndexedHeader): void {
    const { id, taskId, reward, origin } = header;
    const { kind, resolved, stopReason, tools, infrastructureError, infrastructurePhrase, sandbox } = header;
    const phrase = infrastructurePhrase && { infrastructurePhrase };
    const common = { kind, resolved, stopReason, tools, infrastructureError, ...phrase, sandbox };
    const row = this.ids.add(id);
    this.taskOfRow.set(row, this.tasks.numberOf(taskId, taskId));
    this.commonOfRow.set(row, this.commons.numberOf(JSON.stringify(common), common));
    this.step.set(row, header.step);
    this.sample.set(row, header.sample);
    this.turns.set(row, header.turns);
    this.tokens.set(row, header.tokens);
    this.seconds.set(row, header.seconds);
    this.reward.set(row, reward ?? NaN);
    this.offset.set(row, offset);
    this.length.set(row, length);
    this.originOfRow.set(row, origin ? this.origins.numberOf(origin.trajectoryId, origin.trajectoryId) + 1 : 0);
    this.turnOfOrigin.set(row, origin?.turn ?? 0);
    const made = this.made?.deref();
    if (made && row < made.length) made[row] = this.header(row);
  }

  has(id: string): boolean {
    return this.ids.row(id) !== undefined;
  }

  /** Where the trajectory's line lies; undefined where there is none of that id. */
  place(id: string): { readonly offset: number; readonly length: number } | undefined {
    const row = this.ids.row(id);
    return row === undefined ? undefined : { offset: this.offset.at(row), length: this.length.at(row) };
  }

  /** All of them. As long as somebody holds the array, only those that came since are made anew. */
  all(): readonly TrajectoryHeader[] {
    const made = this.made?.deref() ?? [];
    for (let row = made.length; row < this.ids.size; row++) made.push(this.header(row));
    this.made = new WeakRef(made);
    return made;
  }

  /** One after the other, kept by nobody. */
  *each(): Generator<TrajectoryHeader> {
    for (let row = 0; row < this.ids.size; row++) yield this.header(row);
  }

  private header(row: number): TrajectoryHeader {
    // Named one by one: spread, they would make each of a hundred thousand headers slow to build, and large.
    const { kind, resolved, stopReason, tools, infrastructureError, infrastructurePhrase, sandbox } =
      this.commons.value(this.commonOfRow.at(row));
    const reward = this.reward.at(row);
    const origin = this.originOfRow.at(row);
    const header = {
      id: this.ids.id(row),
      kind,
      step: this.step.at(row),
      taskId: this.tasks.value(this.taskOfRow.at(row)),
      sample: this.sample.at(row),
      reward: Number.isNaN(reward) ? null : reward,
      resolved,
      stopReason,
      turns: this.turns.at(row),
      tokens: this.tokens.at(row),
      seconds: this.seconds.at(row),
      tools,
      infrastructureError,
      sandbox,
    };
    if (infrastructurePhrase === undefined && origin === 0) return header;
    return {
      ...header,
      ...(infrastructurePhrase && { infrastructurePhrase }),
      ...(origin > 0 && {
        origin: { trajectoryId: this.origins.value(origin - 1), turn: this.turnOfOrigin.at(row) },
      }),
    };
  }
}
