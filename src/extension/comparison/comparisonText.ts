import { visibleText } from '../trajectory/visibleText.js';
import { t } from '../translate.js';
import type { Compared } from './compared.js';

/** Two policies on the same held-out tasks, as a document. */
export function comparisonText(later: string, earlier: string, { success, comparison }: Compared): string {
  const { difference, interval, pValue, tasks, regressions, improvements } = comparison;
  const range = interval && ` (${t('95 % interval {0} to {1}', points(interval[0]), points(interval[1]))})`;
  const pairs = (list: Compared['comparison']['regressions']) =>
    list.length === 0
      ? [`  ${t('none')}`]
      : list.map(
          ({ taskId, before, after, episodes }) =>
            `  ${t('{0}: solved {1}, before {2}, of {3}', taskId, after, before, episodes)}`,
        );
  const lines = [
    `━━ ${t('{0} against {1}', later, earlier)} ━━`,
    '',
    `${later}: ${inWords(success)}`,
    `${earlier}: ${inWords(comparison.success)}`,
    t('Difference: {0} points', points(difference)) + (range ?? ''),
    t('Tasks: {0}; p = {1} (exact paired sign-flip test)', tasks, pValue.toPrecision(2)),
    '',
    `── ${t('Tasks that got worse')} ──`,
    ...pairs(regressions),
    '',
    `── ${t('Tasks that got better')} ──`,
    ...pairs(improvements),
  ];
  return lines.map((line) => visibleText(line).replaceAll('\n', ' ')).join('\n');
}

const inWords = ({ rate, interval, n }: Compared['success']): string =>
  t('{0} solved ({1} to {2}) of {3}', percent(rate), percent(interval[0]), percent(interval[1]), n);

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const points = (value: number): string => `${value < 0 ? '−' : '+'}${(100 * Math.abs(value)).toFixed(1)}`;
