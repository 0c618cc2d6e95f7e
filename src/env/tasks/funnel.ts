import type { Funnel, FunnelCounts, TaskSource } from '../../trajectory/task.js';
import type { AttemptResult } from './attempt.js';

/** Counts what became of all attempts, in all and by source. */
export function countFunnel(results: Readonly<Partial<Record<TaskSource, readonly AttemptResult[]>>>): Funnel {
  const sources = Object.fromEntries(Object.entries(results).map(([source, own]) => [source, count(own)]));
  return { ...count(Object.values(results).flat()), sources };
}

function count(results: readonly AttemptResult[]): FunnelCounts {
  const skipped: Record<string, number> = {};
  const invalid: Record<string, number> = {};
  let flaky = 0;
  let kept = 0;
  for (const result of results) {
    if ('skipped' in result) skipped[result.skipped] = (skipped[result.skipped] ?? 0) + 1;
    else if ('invalid' in result) invalid[result.invalid] = (invalid[result.invalid] ?? 0) + 1;
    else if ('flaky' in result) flaky += 1;
    else kept += 1;
  }
  return { found: results.length, skipped, invalid, flaky, kept };
}

/** The funnel as rows of a table: a heading, and the numbers of each source and of all. Reasons are indented, the most frequent first. */
export function funnelTable(funnel: Funnel): {
  readonly header: readonly string[];
  readonly rows: readonly string[][];
} {
  const sources = Object.entries(funnel.sources);
  const columns = sources.length > 1 ? [...sources.map(([, counts]) => counts), funnel] : [funnel];
  const row = (title: string, number: (counts: FunnelCounts) => number) => [
    title,
    ...columns.map((counts) => String(number(counts) || (title.startsWith(' ') ? '' : 0))),
  ];
  const group = (title: string, of: (counts: FunnelCounts) => Readonly<Record<string, number>>) => [
    row(title, (counts) => sum(of(counts))),
    ...Object.entries(of(funnel))
      .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .map(([reason]) => row(`  ${reason}`, (counts) => of(counts)[reason] ?? 0)),
  ];
  return {
    header: ['candidates', ...(sources.length > 1 ? [...sources.map(([source]) => source), 'all'] : ['number'])],
    rows: [
      row('found', ({ found }) => found),
      ...group('skipped', ({ skipped }) => skipped),
      ...group('not valid', ({ invalid }) => invalid),
      row('flaky', ({ flaky }) => flaky),
      row('kept', ({ kept }) => kept),
    ],
  };
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((total, one) => total + one, 0);
