import { expect, it } from 'vitest';
import { historyLines } from './historyLines.js';

it('each place where the history was shown anew has a line with the turn and the reason', () => {
  const at = (turn: number, reason: 'template' | 'window' | 'summary') => ({ turn, node: 0, reason });
  expect(historyLines([])).toEqual([]);
  expect(historyLines([at(2, 'template'), at(4, 'window'), at(5, 'summary')])).toEqual([
    'Before turn 2 the history was shown anew: the chat template would render what came before otherwise than it was stored.',
    'Before turn 4 the history was shown anew: older observations were left out for want of room.',
    'Before turn 5 the history was shown anew: it was asked for a summary of its progress, or went on from one.',
  ]);
});
