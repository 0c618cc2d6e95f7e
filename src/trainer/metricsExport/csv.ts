import type { MetricSeries } from './series.js';

/** Metrics as CSV (RFC 4180): a row a step, a column a metric, the names in the first row; empty where a step lacks a metric. */
export function metricsCsv(series: MetricSeries): string {
  const names = [...series.keys()];
  const steps = [...new Set([...series.values()].flatMap((points) => points.map(({ step }) => step)))];
  const columns = [...series.values()].map((points) => new Map(points.map(({ step, value }) => [step, value])));
  const rows = steps
    .sort((a, b) => a - b)
    .map((step) => [step, ...columns.map((values) => values.get(step) ?? '')].join(','));
  return [['step', ...names.map(quoted)].join(','), ...rows].map((row) => `${row}\r\n`).join('');
}

/** Names of reward components come from elsewhere; one that a spreadsheet would take for a formula is made text. */
const quoted = (name: string) => {
  const safe = /^[=+\-@\t]/.test(name) ? `'${name}` : name;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
