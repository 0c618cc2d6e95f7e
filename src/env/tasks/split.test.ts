import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitTasks, type SplitItem } from './split.js';

const item = (files: string[], scope = files[0]): SplitItem => ({ files, scope });

const files = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 3 });
const items = fc.array(fc.record({ files, scope: fc.constantFrom('1', '2') }), { minLength: 2, maxLength: 30 });

describe('splitTasks', () => {
  it('never has a file on both sides where there are several files', () => {
    fc.assert(
      fc.property(items, fc.integer(), (tasks, seed) => {
        fc.pre(new Set(tasks.flatMap((task) => task.files)).size >= 2);
        const { splits } = splitTasks(tasks, seed);
        const on = (side: string) =>
          new Set(tasks.flatMap((task, index) => (splits[index] === side ? task.files : [])));
        const train = on('train');
        expect([...on('heldout')].filter((file) => train.has(file))).toEqual([]);
      }),
    );
  });

  it('has tasks on both sides where single files allow it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 2, maxLength: 20 }),
        fc.integer(),
        (names, seed) => {
          fc.pre(new Set(names).size >= 2);
          const { splits } = splitTasks(
            names.map((name) => item([name])),
            seed,
          );
          expect(new Set(splits)).toEqual(new Set(['train', 'heldout']));
        },
      ),
    );
  });

  it('holds out about three in ten', () => {
    const tasks = Array.from({ length: 60 }, (_, index) => item([`src/${index % 14}.js`]));
    const held = splitTasks(tasks, 1).splits.filter((split) => split === 'heldout').length;
    expect(held).toBeGreaterThanOrEqual(13);
    expect(held).toBeLessThanOrEqual(18);
  });

  it('gives the same split for the same seed', () => {
    const tasks = Array.from({ length: 20 }, (_, index) => item([`src/${index % 7}.js`]));
    expect(splitTasks(tasks, 5)).toEqual(splitTasks(tasks, 5));
  });

  it('splits by function where there is one file, and says so', () => {
    const tasks = ['f', 'f', 'f', 'g', 'g', 'h'].map((scope) => item(['a'], scope));
    const { splits, note } = splitTasks(tasks, 1);
    expect(new Set(splits)).toEqual(new Set(['train', 'heldout']));
    expect(new Set(splits.slice(0, 3)).size).toBe(1);
    expect(note).toContain('by function');
  });

  it('drops what spans both sides where everything hangs together', () => {
    const { splits, note } = splitTasks([item(['a', 'b']), item(['a']), item(['b'])], 1);
    expect(splits[0]).toBeNull();
    expect(new Set(splits.slice(1))).toEqual(new Set(['train', 'heldout']));
    expect(note).toContain('dropped');
  });
});
