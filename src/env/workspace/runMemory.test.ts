import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cancelled, infrastructure } from '../../trajectory/errors.js';
import type { TestReport } from '../testing/testRunner.js';
import { RunMemory, type MadeRun } from './runMemory.js';

const never = new AbortController().signal;
const key = (tree: string, suite = 'suite') => ({ suite, tree });

function made(text: string, more: Partial<TestReport> = {}, canBeShared = true): MadeRun {
  return {
    report: { outcome: 'completed', results: [], output: text, durationMs: 5, ...more },
    mountPath: '/repo',
    canBeShared,
  };
}

/** A run that ends when it is told to, or when its signal aborts. */
function controlled() {
  let end: (run: MadeRun) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const signals: AbortSignal[] = [];
  const make = (signal: AbortSignal) => {
    signals.push(signal);
    return new Promise<MadeRun>((resolve, reject) => {
      [end, fail] = [resolve, reject];
      signal.addEventListener('abort', () => reject(cancelled()));
    });
  };
  return { make, signals, end: (run: MadeRun) => end(run), fail: (error: Error) => fail(error) };
}

const notMade = () => Promise.reject(new Error('made though it was known'));
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a memory of test runs', () => {
  it('makes a run once, and counts who asked', async () => {
    const memory = new RunMemory('shown');
    const first = await memory.ask(key('a'), never, () => Promise.resolve(made('one')));
    const second = await memory.ask(key('a'), never, notMade);
    expect([first.isRemembered, second.isRemembered]).toEqual([false, true]);
    expect(second.made).toEqual(first.made);
    await memory.ask(key('b'), never, () => Promise.resolve(made('two')));
    await memory.ask(key('a', 'other'), never, () => Promise.resolve(made('three')));
    expect(memory.counts).toEqual({ asked: 4, remembered: 1 });
  });

  it.each(['timed-out', 'crashed', 'no-tests'] as const)('does not remember one that %s', async (outcome) => {
    const memory = new RunMemory('graded');
    for (let count = 1; count <= 2; count++) {
      const { isRemembered } = await memory.ask(key('a'), never, () => Promise.resolve(made('', { outcome })));
      expect(isRemembered).toBe(false);
    }
  });

  it('lets those who ask meanwhile wait for the run that is under way', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const asked = [memory.ask(key('a'), never, run.make), ...[1, 2, 3].map(() => memory.ask(key('a'), never, notMade))];
    await settle();
    run.end(made('shared'));
    const answers = await Promise.all(asked);
    expect(answers.map(({ isRemembered }) => isRemembered)).toEqual([false, true, true, true]);
    expect(new Set(answers.map((answer) => answer.made)).size).toBe(1);
    expect(run.signals).toHaveLength(1);
  });

  it('goes on with a run whose maker is cancelled as long as another waits, and gives it to that one', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const maker = new AbortController();
    const leading = memory.ask(key('a'), maker.signal, run.make);
    const waiting = memory.ask(key('a'), never, notMade);
    await settle();
    maker.abort();
    expect(run.signals[0].aborted).toBe(false);
    run.end(made('for the other'));
    await expect(leading).rejects.toMatchObject({ kind: 'cancelled' });
    expect((await waiting).made.report.output).toBe('for the other');
  });

  it('cancels one who waits at once, and no other', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const impatient = new AbortController();
    const leading = memory.ask(key('a'), never, run.make);
    const waiting = memory.ask(key('a'), impatient.signal, notMade);
    await settle();
    impatient.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
    expect(run.signals[0].aborted).toBe(false);
    run.end(made('kept'));
    expect((await leading).made.report.output).toBe('kept');
  });

  it('ends a run for which nobody waits any more, and makes it anew for who asks then', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const askers = [new AbortController(), new AbortController()];
    const asked = askers.map(({ signal }) => memory.ask(key('a'), signal, run.make));
    await settle();
    askers[0].abort();
    expect(run.signals[0].aborted).toBe(false);
    askers[1].abort();
    expect(run.signals[0].aborted).toBe(true);
    const later = memory.ask(key('a'), never, () => Promise.resolve(made('anew')));
    for (const one of asked) await expect(one).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await later).toMatchObject({ isRemembered: false, made: { report: { output: 'anew' } } });
    await expect(memory.ask(key('b'), AbortSignal.abort(), notMade)).rejects.toMatchObject({ kind: 'cancelled' });
  });

  it('lets those who waited try for themselves where the machine failed the one who made the run', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const leading = memory.ask(key('a'), never, run.make);
    const waiting = memory.ask(key('a'), never, () => Promise.resolve(made('own')));
    await settle();
    run.fail(infrastructure('The disk is full.', ''));
    await expect(leading).rejects.toThrow('The disk is full.');
    expect((await waiting).made.report.output).toBe('own');
  });

  it('makes each run of a suite once one did something to its tree, those that waited for it side by side', async () => {
    const memory = new RunMemory('shown');
    const run = controlled();
    const own = [controlled(), controlled()];
    const asked = [run, ...own].map(({ make }) => memory.ask(key('a'), never, make));
    await settle();
    run.end(made('', {}, false));
    await settle();
    expect(own.map(({ signals }) => signals.length)).toEqual([1, 1]);
    for (const one of own) one.end(made('', {}, false));
    expect((await Promise.all(asked)).map(({ isRemembered }) => isRemembered)).toEqual([false, false, false]);
    await memory.ask(key('b'), never, () => Promise.resolve(made('', {}, false)));
    expect(memory.counts).toEqual({ asked: 4, remembered: 0 });
  });

  it('forgets what was not used for longest, by entries and by bytes, as a list in order of use would', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ tree: fc.constantFrom('a', 'b', 'c', 'd', 'e'), size: fc.nat(400) }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 100, max: 1200 }),
        async (asks, entries, bytes) => {
          const memory = new RunMemory('shown', { entries, bytes });
          let known: { tree: string; bytes: number }[] = [];
          for (const { tree, size } of asks) {
            const run = made('x'.repeat(size));
            const { isRemembered } = await memory.ask(key(tree), never, () => Promise.resolve(run));
            const found = known.find((one) => one.tree === tree);
            expect(isRemembered).toBe(found !== undefined);
            const cost = `suite ${tree}`.length + JSON.stringify(run.report).length;
            known = [...known.filter((one) => one !== found), found ?? { tree, bytes: cost }];
            const all = () => known.reduce((sum, one) => sum + one.bytes, 0);
            while (known.length > entries || all() > bytes) known = known.slice(1);
          }
        },
      ),
    );
  });
});
