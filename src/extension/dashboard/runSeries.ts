import type { RunEvent, Stage } from '../../trainer/run/runRecord.js';
import { ofEngine } from '../translate.js';

/** What the charts draw of a run. `x` counts steps: the updates of a warm start lie from -1 to 0, an evaluation at its step. */
export interface RunSeries {
  readonly key: string;
  readonly label: string;
  /** Positions of the rows, in order, and the minutes since the run began; all of `metrics` are aligned with them. */
  readonly x: readonly number[];
  readonly minutes: readonly number[];
  readonly metrics: Readonly<Record<string, readonly (number | null)[]>>;
  readonly evaluations: readonly EvaluationPoint[];
  readonly bands: readonly Band[];
  readonly marks: readonly Mark[];
}
export interface Place {
  readonly x: number;
  readonly minutes: number;
}
/** Success on a split with its confidence interval. */
export interface EvaluationPoint extends Place {
  readonly split: string;
  readonly rate: number;
  readonly low: number;
  readonly high: number;
  readonly n: number;
}
/** A stretch of one stage. */
export interface Band {
  readonly stage: Stage;
  readonly from: Place;
  readonly to: Place;
}
/** Where the doctor found something. */
export interface Mark extends Place {
  readonly mode: string;
  readonly severity: 'warning' | 'critical';
  readonly message: string;
}

/** The series of a run; rows that a resumed run wrote again replace the earlier ones. */
export function seriesOf(key: string, label: string, events: readonly RunEvent[]): RunSeries {
  const clock = minutesSince(events[0]?.at);
  const rows = new Map<number, { minutes: number; metrics: Readonly<Record<string, number>> }>();
  const evaluations = new Map<string, EvaluationPoint>();
  const marks = new Map<string, Mark>();
  const bands: { stage: Stage; from: Place; to: Place }[] = [];
  let here: Place = { x: -1, minutes: 0 };
  for (const event of events) {
    const minutes = clock(event.at);
    here = { x: here.x, minutes };
    if (event.type === 'stage') {
      here = { x: startOf(event.stage, here.x), minutes };
      close(bands, here);
      bands.push({ stage: event.stage, from: here, to: here });
    } else if (event.type === 'warm-start') {
      here = { x: -1 + event.update / Math.max(1, event.updates), minutes };
      const named = Object.entries(event.metrics).map(([name, value]) => [`warm-start/${name}`, value]);
      rows.set(here.x, { minutes, metrics: Object.fromEntries(named) as Record<string, number> });
    } else if (event.type === 'step') {
      here = { x: event.step, minutes };
      rows.set(event.step, { minutes, metrics: event.metrics });
    } else if (event.type === 'evaluation') {
      const { rate, interval, n } = event.success;
      const [low, high] = interval;
      const point = { x: event.step, minutes, split: event.split, rate, low, high, n };
      evaluations.set(`${event.step} ${event.split}`, point);
    } else if (event.type === 'finding') {
      const { mode, severity, evidence } = event.finding;
      const message = ofEngine(event.finding);
      marks.set(mode, { x: evidence.step ?? event.step, minutes, mode, severity, message });
    }
    close(bands, here);
  }
  const sorted = [...rows].sort(([a], [b]) => a - b);
  const names = new Set(sorted.flatMap(([, { metrics }]) => Object.keys(metrics)));
  return {
    key,
    label,
    x: sorted.map(([x]) => x),
    minutes: sorted.map(([, { minutes }]) => minutes),
    metrics: Object.fromEntries(
      [...names].map((name) => [name, sorted.map(([, { metrics }]) => metrics[name] ?? null)]),
    ),
    evaluations: [...evaluations.values()].sort((a, b) => a.x - b.x),
    bands,
    marks: [...marks.values()],
  };
}

/** The last band reaches up to here. */
function close(bands: { stage: Stage; from: Place; to: Place }[], to: Place): void {
  const last = bands.at(-1);
  if (last) last.to = to;
}

/** Training begins at 0, after a warm start or without one; what comes before it is before. */
function startOf(stage: Stage, x: number): number {
  return stage === 'train' ? Math.max(0, x) : x;
}

/** To be asked in the order of the events: where the clock was set back, no time has passed. */
function minutesSince(start: string | undefined): (at: string) => number {
  let [before, elapsed] = [Date.parse(start ?? ''), 0];
  return (at) => {
    const now = Date.parse(at);
    if (now > before) elapsed += (now - before) / 60_000;
    if (Number.isFinite(now)) before = now;
    return elapsed;
  };
}
