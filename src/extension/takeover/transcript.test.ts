import { expect, it } from 'vitest';
import { transcriptOf } from './transcript.js';

const hostile = '<b>\u001b[2J[quit](command:quit)\u202e\nend';
const shown = '<b>\\u{1b}[2J[quit](command:quit)\\u{202e}';

it('an episode by hand shows what tools, tasks and machines say as text', () => {
  const call = { name: hostile, arguments: {} };
  const text = transcriptOf(
    hostile,
    hostile,
    [
      { role: 'assistant', thought: hostile, calls: [call], content: '' },
      { role: 'tool', name: hostile, content: hostile },
    ],
    { stopReason: 'error', grade: null, infrastructureError: hostile, run: null, trajectory: null },
  );
  expect(text.split('\n')).toEqual([
    `━━ ${shown} end ━━`,
    ...[shown, 'end', ''],
    `── turn 1 · ${shown} end {} ──`,
    ...[`    ${shown}`, '    end'],
    ...[shown, 'end', ''],
    `The machine failed, and nothing was kept: ${shown} end`,
  ]);
});
