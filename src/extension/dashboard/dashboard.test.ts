import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../trainer/run/runRecord.js';
import { seriesOf } from './runSeries.js';
import { align, inOrder, smooth } from './smoothing.js';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 1, 10, minute)).toISOString();
const step = (number: number, minute: number, reward: number): RunEvent => ({
  at: at(minute),
  type: 'step',
  step: number,
  metrics: { reward },
  groups: [],
});

describe('the series of a run', () => {
  const events: RunEvent[] = [
    { at: at(0), type: 'started', pid: 1, resumedFromStep: null },
    { at: at(0), type: 'stage', stage: 'warm-start' },
    { at: at(1), type: 'warm-start', update: 1, updates: 2, metrics: { loss: 3 } },
    { at: at(2), type: 'warm-start', update: 2, updates: 2, metrics: { loss: 2 } },
    { at: at(2), type: 'stage', stage: 'train' },
    step(1, 4, 0.1),
    step(2, 6, 0.2),
    {
      at: at(6),
      type: 'finding',
      step: 2,
      finding: {
        mode: 'loops',
        severity: 'warning',
        message: 'm',
        evidence: { step: 1, trajectoryId: null, token: null },
        causes: [],
        remedy: '',
      },
    },
    { at: at(7), type: 'started', pid: 2, resumedFromStep: 1 },
    step(2, 9, 0.3),
  ];
  const series = seriesOf('key', 'label', events);

  it('have a row for each update of the warm start and each step, a resumed one replacing the first', () => {
    expect(series.x).toEqual([-0.5, 0, 1, 2]);
    expect(series.minutes).toEqual([1, 2, 4, 9]);
    expect(series.metrics).toEqual({ 'warm-start/loss': [3, 2, null, null], reward: [null, null, 0.1, 0.3] });
  });

  it('have bands that follow one another, and marks at the step that is the evidence', () => {
    expect(series.bands.map(({ stage, from, to }) => [stage, from.x, to.x, from.minutes, to.minutes])).toEqual([
      ['warm-start', -1, 0, 0, 2],
      ['train', 0, 2, 2, 9],
    ]);
    expect(series.marks).toMatchObject([{ x: 1, mode: 'loops', severity: 'warning' }]);
  });

  it('have minutes that go on from where they were where the clock was set back', () => {
    const { minutes } = seriesOf('key', 'label', [step(1, 10, 0), step(2, 14, 0), step(3, 2, 0), step(4, 5, 0)]);
    expect(minutes).toEqual([0, 4, 4, 7]);
  });

  it('are empty of a run that has not begun', () => {
    expect(seriesOf('key', 'label', [])).toMatchObject({ x: [], metrics: {}, bands: [] });
  });
});

describe('smoothing', () => {
  it('weighs what came before less and less, from the first value on', () => {
    expect(smooth([1, 1, 1], 0.9).map((value) => Number(value?.toFixed(12)))).toEqual([1, 1, 1]);
    expect(smooth([0, 3], 0.5)).toEqual([0, 2]);
    expect(smooth([1, null, 3], 0)).toEqual([1, null, 3]);
  });

  it('stays between the least and the greatest value', () => {
    const values = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 0.99, noNaN: true }), (series, factor) => {
        const room = 1e-6;
        const [low, high] = [Math.min(...series) - room, Math.max(...series) + room];
        expect(smooth(series, factor).every((value) => value !== null && value >= low && value <= high)).toBe(true);
      }),
    );
  });
});

describe('runs over one another', () => {
  it('share an axis, with gaps where one of them has no value', () => {
    const aligned = align([
      { x: [1, 3], y: [10, 30] },
      { x: [2, 3], y: [200, null] },
    ]);
    expect(aligned).toEqual({
      x: [1, 2, 3],
      ys: [
        [10, null, 30],
        [null, 200, null],
      ],
    });
  });
});

describe('the order of metrics', () => {
  it('is reward first, then by name', () => {
    expect(inOrder(['zeta', 'kl', 'alpha', 'reward', 'kl'])).toEqual(['reward', 'kl', 'alpha', 'zeta']);
  });
});
