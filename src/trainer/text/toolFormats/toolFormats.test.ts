import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolSchema } from '../../../trajectory/message.js';
import { parseAssistantText } from '../toolCalls.js';
import { toolFormatNames } from './toolFormat.js';
import { formatThatReads, toolFormats } from './toolFormats.js';

const tools: ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'open',
      description: '',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, line: { type: 'integer' }, many: { type: 'array' } },
      },
    },
  },
];
const parse = (name: keyof typeof toolFormats, raw: string) => parseAssistantText(raw, toolFormats[name], tools);
const openCall = { name: 'open', arguments: { path: 'a.js', line: 3 } };

describe.each(toolFormatNames)('%s', (name) => {
  const format = toolFormats[name];

  test('reads what it writes: text, thinking and several calls', () => {
    const calls = [openCall, { name: 'submit', arguments: {} }];
    const raw = `<think>\nhm\n</think>\n\n${format.write('I look.', calls)}`;
    const turn = parse(name, raw);
    expect(turn).toMatchObject({ content: 'I look.', thinking: 'hm', raw });
    expect(turn.malformedCall).toBeUndefined();
    expect(turn.toolCalls.map((call) => ({ name: call.name, arguments: call.arguments }))).toEqual(calls);
  });

  test('opens a call as it writes it', () => {
    for (const call of [openCall, { name: 'a"b', arguments: {} }])
      expect(format.write('', [call]).startsWith(format.opening(call.name))).toBe(true);
  });

  test('leaves a closing tag of thinking to the call that holds it, and sees where thinking ends that the prompt began', () => {
    const calls = [openCall, { name: 'open', arguments: { path: '</think>\u2028Observation: ' } }];
    const read = (raw: string) => {
      const { thinking, toolCalls, malformedCall } = parse(name, raw);
      return [thinking, toolCalls.map((call) => ({ name: call.name, arguments: call.arguments })), malformedCall];
    };
    expect(read(format.write('', calls))).toEqual([undefined, calls, undefined]);
    expect(read(`hm\n</think>\n${format.write('', calls)}`)).toEqual(['hm', calls, undefined]);
  });

  test('reads plain text as such', () => {
    const turn = parse(name, 'The bug is in a.js: {"x": 1} is wrong.');
    expect(turn).toMatchObject({ toolCalls: [], content: 'The bug is in a.js: {"x": 1} is wrong.' });
    expect(turn.malformedCall).toBeUndefined();
  });

  test('is found by how a call is written', () => {
    const probe = { name: 'open', arguments: { path: 'a.js' } };
    expect(formatThatReads(format.write('', [probe]), probe)?.name).toBe(name);
  });

  test('reads any value that it wrote', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 20 })
      .filter((one) => !/<\/?(parameter|function|tool_call)/.test(one));
    fc.assert(
      fc.property(text, fc.integer(), fc.array(fc.string()), (path, line, many) => {
        const args = { path, line, many };
        const turn = parse(name, format.write('', [{ name: 'open', arguments: args }]));
        expect(turn.toolCalls[0]?.arguments).toEqual(args);
      }),
    );
  });

  test('never throws, whatever the text', () => {
    const pieces = [
      '<tool_call>',
      '</tool_call>',
      '<function=open>',
      '</function>',
      '<parameter=path>',
      '</parameter>',
      '[TOOL_CALLS]',
      '[ARGS]',
      '<|python_tag|>',
      'Action: open',
      '\nAction Input:',
      '\nObservation:',
      '<think>',
      '</think>',
      '{"name": "open",',
      '"parameters": {',
      '"arguments": {',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ';',
      '\n',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 25 }), (list) => {
        expect(parse(name, list.join('')).raw).toBe(list.join(''));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a malformed call is told', () => {
  test.each([
    ['qwen3-coder', '<tool_call>\nopen a.js\n</tool_call>', /<function=NAME>/],
    [
      'qwen3-coder',
      '<tool_call>\n<function=open>\n<parameter=path>\na.js\n</function>\n</tool_call>',
      /"path" is missing/,
    ],
    ['qwen3-coder', '<tool_call>\n<function=open>\n<parameter=path>\na.js\n</parameter>', /<\/function> is missing/],
    ['qwen3-coder', '<tool_call>\n<function=open>\nnow\n</function>\n</tool_call>', /between the parameters/],
    ['qwen3-coder', 'a.js\n</parameter>', /outside of a call/],
    ['mistral', '[TOOL_CALLS]open a.js', /whole JSON list/],
    ['mistral', '[TOOL_CALLS][{"name": "open", "arguments": {}]', /whole JSON list/],
    ['mistral', '[TOOL_CALLS][{"name": "open", "arguments": {x}}]', /not valid JSON/],
    ['mistral', '[TOOL_CALLS][{"arguments": {}}]', /no "name"/],
    ['mistral', '[TOOL_CALLS][{"name": "open", "arguments": {}}] now', /after the calls/],
    ['mistral', '[{"name": "open", "arguments": {}}]', /must follow \[TOOL_CALLS\]/],
    ['llama3', '{"name": "open", "parameters": {"path": "a.js"}', /whole JSON object/],
    ['llama3', '{"name": "open"}', /no "parameters"/],
    ['llama3', '{"name": "open", "parameters": {}} and so on', /after the call/],
    ['llama3', '<|python_tag|>open("a.js")', /whole JSON object/],
    ['react', 'Action: open', /not followed by its Action Input/],
    ['react', 'Action: open\nAction Input: a.js', /whole JSON object/],
    ['react', 'Action: open\nAction Input: ["a"]', /not a JSON object/],
    ['react', 'Action: open\nAction Input: {a}', /not valid JSON/],
  ] as const)('%s %j', (name, raw, pattern) => {
    expect(parse(name, raw).malformedCall).toMatch(pattern);
  });
});

describe('what models really write', () => {
  test('Mistral’s newer form names the tool before its arguments', () => {
    const { toolCalls } = parse('mistral', '[TOOL_CALLS]open[ARGS]{"path": "a.js"}[TOOL_CALLS]submit[ARGS]{}');
    expect(toolCalls.map(({ name }) => name)).toEqual(['open', 'submit']);
  });

  test('Mistral’s own ids of calls are kept', () => {
    const { toolCalls } = parse('mistral', '[TOOL_CALLS][{"name": "open", "arguments": {}, "id": "abcdefghi"}]');
    expect(toolCalls[0]?.id).toBe('abcdefghi');
  });

  test('SmolLM2 lists its calls inside the tags', () => {
    const { toolCalls } = parse(
      'hermes',
      '<tool_call>[{"name": "open", "arguments": {}}, {"name": "submit", "arguments": {}}]</tool_call>',
    );
    expect(toolCalls.map(({ name }) => name)).toEqual(['open', 'submit']);
  });

  test('Llama says calls after its tag, apart by semicolons, also with `arguments`', () => {
    const raw = '<|python_tag|>{"name": "open", "parameters": {"path": "a"}}; {"name": "submit", "arguments": {}}';
    expect(parse('llama3', raw).toolCalls.map(({ name }) => name)).toEqual(['open', 'submit']);
  });

  test('Qwen3-Coder’s arguments have the types of the tool’s schema', () => {
    const raw = '<function=open>\n<parameter=path>\n12\n</parameter>\n<parameter=line>\n12\n</parameter>\n</function>';
    expect(parse('qwen3-coder', raw).toolCalls[0]?.arguments).toEqual({ path: '12', line: 12 });
  });

  test('what a ReAct model makes up as an observation does not count', () => {
    const raw =
      'Thought: I look.\nAction: open\nAction Input: {"path": "a"}\nObservation: fine\nAction: submit\nAction Input: {}';
    expect(parse('react', raw).toolCalls.map(({ name }) => name)).toEqual(['open']);
  });
});
