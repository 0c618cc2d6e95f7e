import type { RunEvent } from './runRecord.js';

/**
 * The events of a run in memory. Progress is told with every episode and makes most of them, so of what is told of one thing in
 * a row only the newest is held, in each of their places: an event's place never changes, and a run of a hundred thousand
 * episodes costs a pointer each.
 */
export class EventLog {
  private readonly log: RunEvent[] = [];
  /** Where the present row of progress begins. */
  private rowStart = 0;

  get events(): readonly RunEvent[] {
    return this.log;
  }

  add(event: RunEvent): void {
    const last = this.log.at(-1);
    this.log.push(event);
    if (isSameProgress(last, event)) this.log.fill(event, this.rowStart);
    else this.rowStart = this.log.length - 1;
  }
}

const isSameProgress = (a: RunEvent | undefined, b: RunEvent) =>
  a?.type === 'progress' && b.type === 'progress' && a.stage === b.stage && a.message === b.message;
