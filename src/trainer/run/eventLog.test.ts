import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLog } from './eventLog.js';
import type { RunEvent } from './runRecord.js';

const progress = (message: string, done: number): RunEvent => ({
  at: '',
  type: 'progress',
  stage: 'train',
  message,
  done,
  total: 9,
});
const paused: RunEvent = { at: '', type: 'paused' };
const logOf = (events: readonly RunEvent[]) => {
  const log = new EventLog();
  for (const event of events) log.add(event);
  return log.events;
};

describe('events in memory', () => {
  it('hold the newest progress of one thing in each place where it was told in a row', () => {
    const [one, two, three] = [1, 2, 3].map((done) => progress('Step 1', done));
    const other = progress('Step 2', 1);
    expect(logOf([paused, one, two, three, other, paused, one])).toEqual([
      paused,
      three,
      three,
      three,
      other,
      paused,
      one,
    ]);
  });

  it('keep everything else, each in its place', () => {
    const event = fc.oneof(
      fc.constant(paused),
      fc.tuple(fc.constantFrom('a', 'b'), fc.nat(9)).map(([message, done]) => progress(message, done)),
    );
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const log = logOf(events);
        expect(log.map(({ type }) => type)).toEqual(events.map(({ type }) => type));
        events.forEach((told, index) => {
          const held = log[index];
          if (told.type !== 'progress' || held.type !== 'progress') return expect(held).toBe(told);
          expect(held.message).toBe(told.message);
          const next = events[index + 1];
          const isNewest = next?.type !== 'progress' || next.message !== told.message;
          if (isNewest) expect(held).toBe(told);
          else expect(held).toBe(log[index + 1]);
        });
      }),
    );
  });
});
