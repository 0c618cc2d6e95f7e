import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { TrajectoryNode } from '../../trajectory/trajectory.js';
import { askedForSummary, contextLimit } from './contextWindow.js';
import type { SamplingOptions } from './episodePlan.js';

const node = (message: Message, tokens: number) => ({ message, tokenIds: new Int32Array(tokens) }) as TrajectoryNode;
const assistant = { role: 'assistant', content: '', toolCalls: [], raw: '' } as const;
const tool = { role: 'tool', toolCallId: 'c', name: 'open', content: 'a' } as const;
const options = (more: Partial<SamplingOptions>) =>
  ({
    contextThreshold: 'dynamic',
    contextShare: 0.5,
    contextSummary: false,
    maxTokensPerTurn: 100,
    ...more,
  }) as SamplingOptions;

describe('the context is full', () => {
  const nodes = [
    node({ role: 'user', content: 'do' }, 500),
    node(assistant, 60),
    node(tool, 90),
    node(tool, 30),
    node({ ...assistant, aside: 'summary' }, 400),
    node(assistant, 90),
    node(tool, 50),
  ];

  it('from a share on, or where one more turn as long as the longest, and a summary, might not fit', () => {
    expect(contextLimit(nodes, 1000, options({ contextThreshold: 'share' }))).toBe(500);
    expect(contextLimit([], 1000, options({}))).toBe(900);
    expect(contextLimit(nodes, 1000, options({}))).toBe(820);
    expect(contextLimit(nodes, 1000, options({ contextSummary: true }))).toBe(620);
  });

  it('but nothing can be summed up before the first observation', () => {
    expect(askedForSummary([{ role: 'user', content: 'do' }])).toBeNull();
    const asked = askedForSummary([{ role: 'user', content: 'do' }, assistant, tool]);
    expect(asked?.at(-1)?.content).toMatch(/^a\n\(The context is almost full/);
  });
});
