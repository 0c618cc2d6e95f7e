import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostVaried } from './variety.js';

const item = (kind: string, file: string, failing: number) => ({
  label: { kind },
  files: [file],
  failToPass: Array.from({ length: failing }, (_, index) => String(index)),
});

describe('mostVaried', () => {
  it('takes other kinds, files and difficulties before more of the same', () => {
    const items = [item('a', '1', 1), item('a', '1', 1), item('a', '1', 1), item('b', '2', 9), item('c', '3', 90)];
    expect(mostVaried(items, 3)).toEqual([items[0], items[3], items[4]]);
  });

  it('takes tasks that few tests and that many tests notice', () => {
    const items = [5, 6, 7, 8, 1].map((failing, index) => item(String(index), String(index), failing));
    expect(mostVaried(items, 2).map(({ failToPass }) => failToPass.length)).toEqual([5, 1]);
  });

  it('keeps the order and gives as many as there are', () => {
    const items = fc.array(fc.record({ kind: fc.constantFrom('a', 'b'), failing: fc.integer({ min: 1, max: 20 }) }));
    fc.assert(
      fc.property(items, fc.nat(20), (list, wanted) => {
        const all = list.map(({ kind, failing }) => item(kind, kind, failing));
        const chosen = mostVaried(all, wanted);
        expect(chosen).toHaveLength(Math.min(wanted, all.length));
        expect(all.filter((one) => chosen.includes(one))).toEqual(chosen);
      }),
    );
  });
});
