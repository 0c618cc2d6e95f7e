import { expect, it } from 'vitest';
import type { Message } from './message.js';
import { shownAnew } from './shownAnew.js';

const user: Message = { role: 'user', content: '' };
const answer: Message = { role: 'tool', toolCallId: '', name: 'open', content: '' };
const turn: Message = { role: 'assistant', content: '', toolCalls: [], raw: '' };
const summary: Message = { ...turn, aside: 'summary' };

it('tells the turn that comes next, the node and the reason; a summary is no turn', () => {
  const nodes = [
    { message: user },
    { message: turn },
    { message: answer },
    { message: user, branch: 'template' as const },
    { message: turn },
    { message: answer },
    { message: user, branch: 'summary' as const },
    { message: summary },
    { message: user, branch: 'summary' as const },
    { message: turn },
  ];
  expect(shownAnew(nodes)).toEqual([
    { turn: 2, node: 3, reason: 'template' },
    { turn: 3, node: 6, reason: 'summary' },
    { turn: 3, node: 8, reason: 'summary' },
  ]);
  expect(shownAnew(nodes.slice(0, 3))).toEqual([]);
});
