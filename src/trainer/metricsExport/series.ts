import type { RunEvent } from '../run/runRecord.js';

/** One value of a metric. */
export interface MetricPoint {
  readonly step: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly value: number;
}

/** All metrics of a run by name, in the order of the steps. */
export type MetricSeries = ReadonlyMap<string, readonly MetricPoint[]>;

/**
 * The metrics of a run: those of the steps by their own names, those of the warm start by update under `warm_start/`, and those
 * of the evaluations under `eval_heldout/` or `eval_train/`. What a resumed run did again replaces what was before.
 */
export function metricSeries(events: readonly RunEvent[]): MetricSeries {
  const series = new Map<string, Map<number, MetricPoint>>();
  const add = (name: string, step: number, at: string, value: number) => {
    const points = series.get(name) ?? new Map<number, MetricPoint>();
    series.set(name, points.set(step, { step, time: Date.parse(at), value }));
  };
  for (const event of events) {
    if (event.type === 'step') {
      for (const [name, value] of Object.entries(event.metrics)) add(name, event.step, event.at, value);
    } else if (event.type === 'warm-start') {
      for (const [name, value] of Object.entries(event.metrics))
        add(`warm_start/${name}`, event.update, event.at, value);
    } else if (event.type === 'evaluation') {
      const { step, at, split, success, meanReward, validCallRate, passAtK = {}, metrics = {} } = event;
      const [low, high] = success.interval;
      const ofSuccess = { success: success.rate, success_low: low, success_high: high };
      const passes = Object.fromEntries(Object.entries(passAtK).map(([k, rate]) => [`pass_at_${k}`, rate]));
      const all = { ...ofSuccess, reward: meanReward, valid_calls: validCallRate, ...passes, ...metrics };
      for (const [name, value] of Object.entries(all)) add(`eval_${split}/${name}`, step, at, value);
    }
  }
  return new Map(
    [...series].map(([name, points]) => [name, [...points.values()].sort((a, b) => a.step - b.step)] as const),
  );
}
