import { visibleText } from '../trajectory/visibleText.js';
import type { Replay } from './replayProcess.js';
import { t } from '../translate.js';

/** A replay as a document, and on which line each diverging turn stands. */
export function replayText(
  title: string,
  { turns }: Pick<Replay, 'turns'>,
): { text: string; diverging: Map<number, number> } {
  const lines: string[] = [];
  const diverging = new Map<number, number>();
  const different = turns.filter((turn) => !turn.same).length;
  lines.push(`━━ ${t('Replay of {0}', oneLine(title))} ━━`);
  lines.push(
    different === 0
      ? t('All {0} replayed turns gave the recorded observations.', turns.length)
      : t('{0} of {1} replayed turns differ from the record.', different, turns.length),
    '',
  );
  for (const { turn, same, call, observed, diff } of turns) {
    if (!same) diverging.set(turn, lines.length);
    lines.push(`── ${t('turn {0}', turn)} · ${same ? t('same as recorded') : t('DIFFERS')} · ${oneLine(call)} ──`);
    const body = same ? observed.join('\n') : diff;
    if (body) lines.push(...visibleText(body).replace(/\n$/, '').split('\n'));
    lines.push('');
  }
  return { text: lines.join('\n'), diverging };
}

const oneLine = (text: string) => visibleText(text).replaceAll('\n', ' ');
