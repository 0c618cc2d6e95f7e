import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAssistantText } from './toolCalls.js';

const call = (name: string, args: unknown) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

describe('a turn parses into', () => {
  test('thinking, text and a call', () => {
    const raw = `<think>\nI look.\n</think>\n\nOpening it.\n${call('open', { path: 'a.js' })}`;
    expect(parseAssistantText(raw)).toEqual({
      role: 'assistant',
      thinking: 'I look.',
      content: 'Opening it.',
      toolCalls: [{ id: 'call-0', name: 'open', arguments: { path: 'a.js' } }],
      raw,
    });
  });

  test('several calls, in order, with ids of their own', () => {
    const { toolCalls } = parseAssistantText(`${call('open', { path: 'a' })}\n${call('submit', {})}`);
    expect(toolCalls.map(({ id, name }) => [id, name])).toEqual([
      ['call-0', 'open'],
      ['call-1', 'submit'],
    ]);
  });

  test('a call whose closing tag is missing at the end', () => {
    const turn = parseAssistantText(call('open', { path: 'a' }).replace('\n</tool_call>', ''));
    expect(turn.toolCalls).toHaveLength(1);
    expect(turn.malformedCall).toBeUndefined();
  });

  test('a call that carries tags and braces inside its strings', () => {
    const args = { old: '</tool_call>{"}', new: '<tool_call> </think> \\"}}' };
    expect(parseAssistantText(call('edit', args)).toolCalls[0]!.arguments).toEqual(args);
  });

  test('thinking without its opening tag, which the prompt may have held', () => {
    expect(parseAssistantText(`I look.\n</think>\n${call('submit', {})}`)).toMatchObject({
      thinking: 'I look.',
      content: '',
      toolCalls: [{ name: 'submit' }],
    });
  });

  test('thinking alone where it never closes: a call in it is a thought', () => {
    const turn = parseAssistantText(`<think>\nPerhaps ${call('submit', {})}`);
    expect(turn).toMatchObject({ content: '', toolCalls: [] });
    expect(turn.malformedCall).toBeUndefined();
  });

  test('plain text', () => {
    const turn = parseAssistantText(' Done. ');
    expect(turn).toEqual({ role: 'assistant', content: 'Done.', toolCalls: [], raw: ' Done. ' });
  });
});

describe('a malformed call is told', () => {
  test.each([
    ['<tool_call>\n{"name": "open", "arguments": {\n</tool_call>', /not a whole JSON object/],
    ['<tool_call>\nopen a.js\n</tool_call>', /not a whole JSON object/],
    ['<tool_call>', /not a whole JSON object/],
    ['<tool_call>{"name": "open", "arguments": {"path": a}}</tool_call>', /not valid JSON/],
    ['<tool_call>{"name": "open", "arguments": {"path": "a\nb"}}</tool_call>', /not valid JSON/],
    ['<tool_call>{"arguments": {}}</tool_call>', /no "name"/],
    ['<tool_call>{"name": "open"}</tool_call>', /no "arguments"/],
    ['<tool_call>{"name": "open", "arguments": ["a"]}</tool_call>', /no "arguments"/],
    [
      '<tool_call>{"name": "submit", "arguments": {}} and more</tool_call>',
      /between the JSON object and <\/tool_call>/,
    ],
    ['{"name": "open", "arguments": {"path": "a"}}', /between <tool_call> and <\/tool_call>/],
    ['{"x": 1}\n</tool_call>', /without <tool_call>/],
  ])('%j', (raw, pattern) => {
    const turn = parseAssistantText(raw);
    expect(turn.toolCalls).toEqual([]);
    expect(turn.malformedCall).toMatch(pattern);
  });

  test('while the good calls beside it count', () => {
    const turn = parseAssistantText(`<tool_call>{oops</tool_call>\n${call('submit', {})}`);
    expect(turn.toolCalls.map(({ name }) => name)).toEqual(['submit']);
    expect(turn.malformedCall).toBeDefined();
  });
});

test('any call comes back as it was written', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
      (name, args) => {
        const { toolCalls } = parseAssistantText(call(name, args));
        const written: unknown = JSON.parse(JSON.stringify({ name, arguments: args }));
        expect({ name: toolCalls[0]!.name, arguments: toolCalls[0]!.arguments }).toEqual(written);
      },
    ),
  );
});

test('no text makes it throw', () => {
  const piece = fc.constantFrom(
    '<tool_call>',
    '</tool_call>',
    '<think>',
    '</think>',
    '{',
    '}',
    '"',
    '\\',
    '\n',
    'a',
    '"name":',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const raw = pieces.join('');
      expect(parseAssistantText(raw).raw).toBe(raw);
    }),
    { numRuns: 500 },
  );
});

test('deep nesting is malformed, not a crash', () => {
  const deep = '{"name": "a", "arguments": {"x": ' + '['.repeat(200_000) + ']'.repeat(200_000) + '}}';
  expect(() => parseAssistantText(`<tool_call>${deep}</tool_call>`)).not.toThrow();
});
