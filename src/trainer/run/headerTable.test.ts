import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeaderTable, type IndexedHeader } from './headerTable.js';
import { IdRows } from './idRows.js';
import { LearnedTable } from './learnedTable.js';
import type { TrajectoryHeader } from './runRecord.js';

/** Few, so that they come again, and odd ones. */
const arbitraryId = fc.oneof(
  fc.constantFrom('step-000001/task/0', 'step-000001/task/1', 'step-000002/task/1', 'a', 'a/', '/a', '/', '', 'é/ü'),
  fc.tuple(fc.nat(40), fc.nat(3)).map(([step, sample]) => `step-${step}/${sample}`),
  fc.string(),
);
const arbitraryCount = fc.oneof(fc.nat(9), fc.maxSafeNat());
const arbitraryNumber = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const arbitraryHeader: fc.Arbitrary<TrajectoryHeader> = fc.record(
  {
    id: arbitraryId,
    kind: fc.constantFrom('rollout', 'evaluation', 'demonstration'),
    step: arbitraryCount,
    taskId: fc.constantFrom('task', 'räng e'),
    sample: arbitraryCount,
    reward: fc.option(arbitraryNumber),
    resolved: fc.boolean(),
    stopReason: fc.constantFrom('submitted', 'turn-limit'),
    turns: arbitraryCount,
    tokens: arbitraryCount,
    seconds: arbitraryNumber,
    tools: fc.subarray(['open', 'edit', 'submit']),
    infrastructureError: fc.option(fc.string()),
    sandbox: fc.constantFrom('bubblewrap', 'unconfined'),
    origin: fc.record({ trajectoryId: arbitraryId, turn: arbitraryCount }),
  },
  {
    requiredKeys: [
      'id',
      'kind',
      'step',
      'taskId',
      'sample',
      'reward',
      'resolved',
      'stopReason',
      'turns',
      'tokens',
      'seconds',
      'tools',
      'infrastructureError',
      'sandbox',
    ],
  },
);
const arbitraryEntries: fc.Arbitrary<IndexedHeader[]> = fc.array(
  fc.record({ header: arbitraryHeader, offset: arbitraryCount, length: arbitraryCount }),
  { maxLength: 60 },
);

describe('headers in memory', () => {
  it('are those that were added, the newest of an id in the place of its first', () => {
    fc.assert(
      fc.property(arbitraryEntries, arbitraryId, (entries, other) => {
        const table = new HeaderTable();
        const expected = new Map<string, IndexedHeader>();
        entries.forEach((entry, index) => {
          table.add(entry);
          expected.set(entry.header.id, entry);
          // Whoever asked before is no hindrance.
          if (index % 7 === 0) expect(table.all()).toHaveLength(expected.size);
        });
        const headers = [...expected.values()].map(({ header }) => header);
        expect(table.all()).toEqual(headers);
        expect([...table.each()]).toEqual(headers);
        for (const id of [other, ...expected.keys()]) {
          const entry = expected.get(id);
          expect(table.place(id)).toEqual(entry && { offset: entry.offset, length: entry.length });
          expect(table.has(id)).toBe(entry !== undefined);
        }
      }),
    );
  });
});

describe('rows of ids', () => {
  it('are found again among many that differ in little', () => {
    const rows = new IdRows();
    const ids = Array.from({ length: 20_000 }, (_, index) => `step-${index >> 6}/task-${index % 7}/${index & 63}`);
    expect(ids.map((id) => rows.add(id))).toEqual([...ids.keys()]);
    expect(ids.map((id) => rows.row(id))).toEqual([...ids.keys()]);
    expect(ids.every((id, row) => rows.id(row) === id)).toBe(true);
    expect(rows.row('step-0/task-0/64')).toBeUndefined();
    expect(rows.row('elsewhere')).toBeUndefined();
  });
});

describe('what was learned, in memory', () => {
  it('is the newest line of a trajectory', () => {
    const arbitraryLine = fc.record({
      trajectoryId: arbitraryId,
      step: arbitraryCount,
      block: fc.record({ offset: arbitraryCount, tokens: arbitraryCount }),
    });
    fc.assert(
      fc.property(fc.array(arbitraryLine), arbitraryId, (lines, other) => {
        const table = new LearnedTable();
        for (const line of lines) table.add(line);
        const expected = new Map(lines.map(({ trajectoryId, ...rest }) => [trajectoryId, rest]));
        for (const id of [other, ...expected.keys()]) expect(table.of(id)).toEqual(expected.get(id));
      }),
    );
  });
});
