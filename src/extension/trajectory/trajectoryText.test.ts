import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { ByteLevelTokenizer } from '../../trainer/text/byteLevelTokenizer.js';
import { trainByteLevelBpe } from '../../trainer/text/bpe/trainByteLevelBpe.js';
import { groupTokens, layOut } from './trajectoryText.js';
import { visibleText } from './visibleText.js';

// 256 byte tokens and a few merges: every other character is split over tokens.
const tokenizer = new ByteLevelTokenizer(
  trainByteLevelBpe(['the the the'], { vocabularySize: 260, specialTokens: ['<|im_end|>'] }),
  {},
  'test',
);

function node(message: Message, text: string, parent: number | null, sampled: number): TrajectoryNode {
  const tokenIds = tokenizer.encode(text);
  return {
    parent,
    message,
    tokenIds,
    actionMask: Uint8Array.from(tokenIds, () => sampled),
    logprobs: Float32Array.from(tokenIds, () => (sampled ? -1 : NaN)),
    entropies: Float32Array.from(tokenIds, () => (sampled ? 0.5 : NaN)),
  };
}

function trajectory(texts: readonly string[]): Trajectory {
  const messages: Message[] = texts.map((content, index) => {
    if (index === 0) return { role: 'user', content };
    return index % 2 === 1
      ? { role: 'assistant', content, raw: content, toolCalls: [] }
      : { role: 'tool', toolCallId: 'call', name: 'open', content };
  });
  return {
    id: 'step-000001/task/0',
    kind: 'rollout',
    step: 1,
    taskId: 'task',
    split: 'train',
    sample: 0,
    seed: 1,
    temperature: 1,
    policyStep: 0,
    sandbox: 'bubblewrap',
    nodes: messages.map((message, index) =>
      node(message, texts[index], index === 0 ? null : index - 1, message.role === 'assistant' ? 1 : 0),
    ),
    stopReason: 'submitted',
    infrastructureError: null,
    grade: null,
    patch: '',
    statistics: {
      turns: 1,
      toolCalls: {},
      malformedCalls: 0,
      unknownTools: 0,
      invalidArguments: 0,
      validCalls: 0,
      sampledTokens: 0,
      totalTokens: 0,
      seconds: 0,
    },
  };
}

const anyText = fc.string({ unit: 'binary', maxLength: 40 });

describe('the text of a trajectory', () => {
  it('says where the policy was shown its history anew, and why', () => {
    const { nodes, ...rest } = trajectory(['a task', 'an answer', 'seen']);
    const anew = node({ role: 'user', content: 'a task' }, 'a task', null, 0);
    const branches = (['template', 'window', 'summary'] as const).map((branch) => ({ ...anew, branch }));
    const { text, sections } = layOut({ ...rest, nodes: [...nodes, ...branches] }, tokenizer);
    expect(text.match(/^── history shown anew · .* ──$/gm)).toEqual([
      '── history shown anew · the chat template renders it otherwise than it was stored ──',
      '── history shown anew · older observations are left out ──',
      '── history shown anew · for a summary, or from one on ──',
    ]);
    expect(sections.slice(-3).map(({ role }) => role)).toEqual(['prompt', 'prompt', 'prompt']);
  });

  it('holds the messages themselves where the record has no tokens at all', () => {
    const recorded = trajectory(['a task', 'an answer']);
    const bare = recorded.nodes.map((one) => ({ ...one, tokenIds: new Int32Array(0) }));
    const { text, tokens } = layOut({ ...recorded, nodes: bare }, tokenizer);
    expect(text).toMatch(/── user ──\na task\n── turn 1 · agent · .* ──\nan answer\n/);
    expect(tokens).toEqual([]);
  });

  it('holds the messages where there are more tokens than an editor has memory for, and says so', () => {
    const recorded = trajectory(['a task', 'an answer']);
    const many = { ...recorded.nodes[1], tokenIds: new Int32Array(1_000_000) };
    const { text, tokens, sections } = layOut({ ...recorded, nodes: [recorded.nodes[0], many] }, tokenizer);
    const lines = text.split('\n');
    expect(lines[1]).toMatch(/^These are the messages: 10000\d\d tokens are too many/);
    expect(sections.map(({ headerLine }) => lines[headerLine + 1])).toEqual(['a task', 'an answer']);
    expect(tokens).toEqual([]);
  });

  it('is refused where a tokenizer blows it up beyond what an editor can show', () => {
    const huge = 'x'.repeat(1e6);
    const bomb = { tokenTexts: (ids: ArrayLike<number>) => Array.from(ids, () => huge), decode: () => huge };
    const recorded = trajectory(['a task', 'an answer '.repeat(10)]);
    expect(() => layOut(recorded, bomb)).toThrow(/more text than an editor can show/);
  });

  it('has one line for each header, however long and odd a name is', () => {
    const name = `${'<b>[quit](command:quit)\u001b[2J\u202e\n'.repeat(1000)}end`;
    const recorded = trajectory(['a task', 'an answer', 'an observation']);
    const nodes = recorded.nodes.map((one) =>
      one.message.role === 'tool' ? { ...one, message: { ...one.message, name } } : one,
    );
    const { text, sections } = layOut({ ...recorded, taskId: name, nodes }, tokenizer);
    const lines = text.split('\n');
    for (const line of [lines[0], lines[sections[2].headerLine]]) {
      expect(line).toContain('<b>[quit](command:quit)\\u{1b}[2J\\u{202e} <b>');
      expect(line.length).toBeLessThan(2000);
    }
    expect(lines).toHaveLength(8);
  });

  it('holds every token once, in order, at the place of its text', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (texts) => {
        const recorded = trajectory(texts);
        const { text, tokens, sections } = layOut(recorded, tokenizer);
        expect(tokens.map(({ index }) => index)).toEqual(tokens.map((_, index) => index));
        expect(tokens).toHaveLength(recorded.nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0));
        expect(sections).toHaveLength(texts.length);
        for (const each of recorded.nodes) {
          const own = tokens.filter((token) => token.node === each);
          if (own.length === 0) continue;
          expect(text.slice(own[0].start, own.at(-1)!.end)).toBe(visibleText(tokenizer.decode(each.tokenIds)));
        }
      }),
    );
  });

  it('puts a header line over each message, at the line that the section names', () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), (texts) => {
        const { text, sections } = layOut(trajectory(texts), tokenizer);
        const lines = text.split('\n');
        expect(sections.map(({ headerLine }) => lines[headerLine].slice(0, 3))).toEqual(texts.map(() => '── '));
        expect(sections.slice(1).map(({ headerLine }) => headerLine - 1)).toEqual(
          sections.slice(0, -1).map(({ lastLine }) => lastLine),
        );
      }),
    );
  });

  it('groups the tokens of a character that is split over them', () => {
    const groups = groupTokens(tokenizer.encode('a😀b'), tokenizer);
    expect(groups.map(({ text, texts }) => [text, texts.length])).toEqual([
      ['a', 1],
      ['😀', 4],
      ['b', 1],
    ]);
  });

  it('shows bytes that never make a character one by one, and text that only looks like one as it is', () => {
    const [broken] = tokenizer.encode('😀');
    expect(groupTokens([broken, ...tokenizer.encode('a')], tokenizer).map(({ text }) => text)).toEqual(['\\xF0', 'a']);
    expect(
      groupTokens(tokenizer.encode('\\xF0'), tokenizer)
        .map(({ text }) => text)
        .join(''),
    ).toBe('\\xF0');
  });

  it('counts template glue inside of an assistant message as prompt, not as the agent', () => {
    const recorded = trajectory(['ask', 'answer']);
    recorded.nodes[1].actionMask[0] = 0;
    const { tokens } = layOut(recorded, tokenizer);
    const own = tokens.filter((token) => token.node === recorded.nodes[1]);
    expect(own[0].role).toBe('prompt');
    expect(own.slice(1).every(({ role }) => role === 'agent')).toBe(true);
  });
});

describe('visible text', () => {
  it('has no character that an editor takes for something else', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(visibleText(text)).not.toMatch(/[\r\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/);
      }),
    );
    expect(visibleText('a\tb\nc')).toBe('a\tb\nc');
    expect(visibleText('\u202e\r')).toBe('\\u{202e}\\u{d}');
  });
});
