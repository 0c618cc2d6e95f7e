import { visibleText } from '../trajectory/visibleText.js';
import type { Replay } from './replayProcess.js';

/** A replay as a document, and on which line each diverging turn stands. */
export function replayText(
  title: string,
  { turns }: Pick<Replay, 'turns'>,
): { text: string; diverging: Map<number, number> } {
  const lines: string[] = [];
  const diverging = new Map<number, number>();
  const different = turns.filter((turn) => !turn.same).length;
  lines.push(`━━ Replay of ${oneLine(title)} ━━`);
  lines.push(
    different === 0
      ? `All ${turns.length} replayed turns gave the recorded observations.`
      : `${different} of ${turns.length} replayed turns differ from the record.`,
    '',
  );
  for (const { turn, same, call, observed, diff } of turns) {
    if (!same) diverging.set(turn, lines.length);
    lines.push(`── turn ${turn} · ${same ? 'same as recorded' : 'DIFFERS'} · ${oneLine(call)} ──`);
    const body = same ? observed.join('\n') : diff;
    if (body) lines.push(...visibleText(body).replace(/\n$/, '').split('\n'));
    lines.push('');
  }
  return { text: lines.join('\n'), diverging };
}

const oneLine = (text: string) => visibleText(text).replaceAll('\n', ' ');
