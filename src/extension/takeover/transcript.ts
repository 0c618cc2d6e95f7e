import { machineError } from '../machineError.js';
import { visibleText } from '../trajectory/visibleText.js';
import { t } from '../translate.js';
import type { EpisodeEnd, ShownMessage } from './personEpisode.js';

/** What was said in an episode so far, as a document, the newest last. */
export function transcriptOf(
  task: string,
  statement: string,
  messages: readonly ShownMessage[],
  end: EpisodeEnd | null,
): string {
  let turn = 0;
  const lines = [`━━ ${oneLine(task)} ━━`, visibleText(statement), ''];
  for (const message of messages) {
    if (message.role === 'assistant') {
      turn += 1;
      const calls = message.calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`).join('; ');
      lines.push(`── ${t('turn {0}', turn)} · ${oneLine(calls || message.content)} ──`);
      if (message.thought !== '') lines.push(...indented(message.thought));
    } else if (message.role === 'tool') {
      lines.push(...visibleText(message.content).replace(/\n$/, '').split('\n'), '');
    }
  }
  lines.push(end === null ? t('It is your turn.') : oneLine(endInWords(end)));
  return lines.join('\n');
}

/** How it ended and what it earned, in one line. */
export function endInWords(end: EpisodeEnd): string {
  const { stopReason, grade } = end;
  const error = machineError(end);
  if (error !== null) return t('The machine failed, and nothing was kept: {0}', error);
  const reward = grade === null ? t('no reward') : t('reward {0}', grade.reward.toFixed(2));
  return grade?.resolved
    ? t('Solved ({0}), {1}.', stopReason, reward)
    : t('Not solved ({0}), {1}.', stopReason, reward);
}

const oneLine = (text: string) => visibleText(text).replaceAll('\n', ' ');
const indented = (text: string) => visibleText(text).replace(/^/gm, '    ').split('\n');
