import { describe, expect, it } from 'vitest';
import type { TaskDraft } from './attempt.js';
import { countFunnel, funnelTable } from './funnel.js';

const KEPT = { draft: {} as TaskDraft };
const funnel = countFunnel({
  history: [{ skipped: 'merge' }, { skipped: 'merge' }, KEPT],
  injection: [KEPT, { invalid: 'no test notices' }, { skipped: 'elsewhere' }, { flaky: true }],
});

describe('the funnel', () => {
  it('adds up, in all and by source', () => {
    expect(funnel).toMatchObject({
      found: 7,
      skipped: { merge: 2, elsewhere: 1 },
      invalid: { 'no test notices': 1 },
      flaky: 1,
      kept: 2,
      sources: { history: { found: 3, skipped: { merge: 2 }, kept: 1 }, injection: { found: 4, flaky: 1, kept: 1 } },
    });
  });

  it('is a table with a column for each source, the reasons below what they explain', () => {
    expect(funnelTable(funnel)).toEqual({
      header: ['candidates', 'history', 'injection', 'all'],
      rows: [
        ['found', '3', '4', '7'],
        ['skipped', '2', '1', '3'],
        ['  merge', '2', '', '2'],
        ['  elsewhere', '', '1', '1'],
        ['not valid', '0', '1', '1'],
        ['  no test notices', '', '1', '1'],
        ['flaky', '0', '1', '1'],
        ['kept', '1', '1', '2'],
      ],
    });
  });

  it('has one column where there is one source', () => {
    expect(funnelTable(countFunnel({ history: [KEPT] })).header).toEqual(['candidates', 'number']);
  });
});
