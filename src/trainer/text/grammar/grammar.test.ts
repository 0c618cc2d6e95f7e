import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tools, toolSchemas } from '../../../env/tools/tools.js';
import type { AssistantMessage } from '../../../trajectory/message.js';
import { onlyAllowed, sampleToken, uniformStream } from '../../model/sampling.js';
import { fixtureCodec, fixtureModels } from '../fixtureCodecs.testing.js';
import { parseAssistantText } from '../toolCalls.js';
import { toolFormatNames, type ToolFormatName } from '../toolFormats/toolFormat.js';
import { toolFormats } from '../toolFormats/toolFormats.js';
import { bytes, choice, grammar, literal, many, sequence, without, type GrammarState } from './byteGrammar.js';
import { callGrammar } from './callGrammar.js';
import type { CallSchema } from './jsonRules.js';

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const schemas: CallSchema[] = tools.map(({ name, argumentsSchema }) => ({ name, parameters: argumentsSchema }));
const starts = Object.fromEntries(
  toolFormatNames.map((name) => [name, callGrammar(toolFormats[name], schemas)]),
) as Record<ToolFormatName, GrammarState>;

/** Null where no whole text begins so. */
function after(state: GrammarState, text: string): GrammarState | null {
  let at: GrammarState | null = state;
  for (const byte of new TextEncoder().encode(text)) at = at?.next(byte) ?? null;
  return at;
}
const isWhole = (format: ToolFormatName, text: string) => after(starts[format], text)?.isWhole ?? false;
const read = (format: ToolFormatName, text: string) => parseAssistantText(text, toolFormats[format], toolSchemas);
const callsOf = ({ toolCalls }: AssistantMessage): Call[] =>
  toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args }));
const call = (name: string, args: Record<string, unknown> = {}): Call => ({ name, arguments: args });

/** The tool's own check of its arguments; what it would do then needs a tree. */
async function fits({ name, arguments: args }: Call): Promise<boolean> {
  const tool = tools.find((one) => one.name === name);
  const answer = await tool?.call(args, { task: {} } as never).catch(() => ({ valid: true }));
  return answer?.valid === true;
}

async function expectValidCalls(turn: AssistantMessage): Promise<void> {
  expect([turn.raw, turn.malformedCall]).toEqual([turn.raw, undefined]);
  expect(turn.toolCalls.length).toBeGreaterThan(0);
  for (const one of callsOf(turn)) expect([turn.raw, one, await fits(one)]).toEqual([turn.raw, one, true]);
}

/** What formats give a meaning to, whole and in parts. */
const pieces = [
  ...['<think>', '</think>', '<tool_call>', '</tool_call>', '<function=', '</function>', '<parameter=', '</parameter>'],
  ...['[TOOL_CALLS]', '[', ']', '[ARGS]', '<|python_tag|>', 'Thought: ', '\nAction: ', 'Action: ', '\nAction Input: '],
  ...[
    'Observation:',
    '\nObservation:',
    '{"name": ',
    '{ "name" :',
    '"arguments": ',
    '"parameters": ',
    '"id": "abcdefghi"',
  ],
  ...[
    '{',
    '}',
    '"',
    '\\',
    '\n',
    '; ',
    ', ',
    '<',
    '>',
    '=',
    'a',
    '0',
    '7',
    '\r',
    '\u2028',
    '\u00a0',
    'é',
    '日',
    '🦉',
    '\0',
  ],
  ...tools.flatMap(({ name, argumentsSchema }) => [
    name,
    `"${name}"`,
    `${name}>`,
    ...Object.keys(argumentsSchema.properties as object).flatMap((key) => [`${key}>\n`, `"${key}": "`]),
  ]),
];

describe.each(toolFormatNames)('the grammar of turns in the format %s', (format) => {
  const { write } = toolFormats[format];
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }),
    fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  );
  const anyCall: fc.Arbitrary<Call> = fc.oneof(
    nasty.map((command) => call('run_command', { command })),
    fc.record({ path: nasty, old: fc.oneof(nasty, fc.constant('')), new: nasty }).map((args) => call('edit', args)),
    fc.array(nasty, { maxLength: 3 }).map((files) => call('run_tests', { files })),
    fc.record({ path: nasty, line: fc.nat(99_999) }, { requiredKeys: ['path'] }).map((args) => call('open', args)),
    fc.record({ query: nasty, path: nasty }, { requiredKeys: ['query'] }).map((args) => call('search', args)),
    fc.constant(call('submit')),
  );

  it('has every turn of valid calls that the format writes and reads, with text and thinking before them', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(anyCall, { minLength: 1, maxLength: 3 }), (calls) => {
        const written = write('', calls);
        // What a tag in an argument cuts short, the format cannot say.
        fc.pre(JSON.stringify(callsOf(read(format, written))) === JSON.stringify(calls));
        accepted++;
        expect([written, isWhole(format, written)]).toEqual([written, true]);
        expect(isWhole(format, `<think>\nwhy\n</think>\n${write('So a < b[0].', calls)}`)).toBe(true);
        expect(isWhole(format, `The prompt opened it.\n</think>\n${written}`)).toBe(true);
      }),
      { numRuns: 300 },
    );
    expect(accepted).toBe(300);
  });

  it('has no other', () => {
    for (const text of [
      '',
      'Done.',
      write('', [call('view')]),
      write('', [call('submit', { now: 'yes' })]),
      write('', [call('run_command')]),
      write('', [call('run_command', { command: '' })]),
      write('', [call('open', { path: 'a', line: 1.5 })]),
      write('', [call('edit', { path: 'a', old: 'b' })]),
      write('', [call('submit')]).slice(0, -1),
      `${write('', [call('submit')])} and more`,
      `<think>${write('', [call('submit')])}`,
      ...(format === 'qwen3-coder' ? [] : [write('', [call('run_command', { command: 3 })])]),
    ]) {
      expect([text, isWhole(format, text)]).toEqual([text, false]);
    }
  });

  it('holds valid calls alone, whatever is written as long as it may be', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { minLength: 20, maxLength: 150 }), async (wishes) => {
        let text = '';
        let state = starts[format];
        for (const wish of wishes) {
          const next = after(state, wish);
          if (next === null) continue;
          text += wish;
          state = next;
        }
        text += shortestEnd(state);
        expect([text, isWhole(format, text)]).toEqual([text, true]);
        await expectValidCalls(read(format, text));
      }),
      { numRuns: 150 },
    );
  });
});

/** The shortest ASCII text that makes it whole, by breadth first. */
function shortestEnd(state: GrammarState): string {
  const reached = new Map<GrammarState, string>([[state, '']]);
  for (const [at, text] of reached) {
    if (at.isWhole) return text;
    for (let byte = 0x09; byte < 0x80; byte++) {
      const next = at.next(byte);
      if (next !== null && !reached.has(next)) reached.set(next, text + String.fromCharCode(byte));
    }
  }
  throw new Error('no whole text begins so');
}

describe('a turn that is sampled under the grammar', () => {
  const codecs = [
    ...fixtureModels.map((model) => fixtureCodec(model)),
    fixtureCodec('smollm2').withToolFormat('react'),
    fixtureCodec('llama3').withToolFormat('react'),
    fixtureCodec('qwen3').withToolFormat('qwen3-coder'),
  ].map((codec, index) => ({ codec, name: `${fixtureModels[index] ?? 'a model'} in ${codec.toolFormat.name}` }));

  it.each(codecs)('by $name is of valid calls, with the log-probabilities of what was possible', async ({ codec }) => {
    const start = starts[codec.toolFormat.name];
    const cursor = codec.callConstraint(schemas)();
    const uniform = uniformStream(1);
    const ids: number[] = [];
    const push = (id: number) => {
      expect([codec.decode(ids), id, cursor.allowed()[id]]).toEqual([codec.decode(ids), id, 1]);
      cursor.push(id);
      ids.push(id);
    };
    const sample = () => {
      const logits = Float32Array.from({ length: codec.vocabularySize }, () => 8 * uniform());
      // The turn goes on for now.
      for (const id of codec.stopTokenIds) logits[id] = -60;
      const allowed = cursor.allowed();
      const { id, logprob } = sampleToken(
        onlyAllowed(logits, allowed),
        { temperature: 1, topP: 1, topK: 0 },
        uniform(),
      );
      const total = logits.reduce((sum, logit, at) => sum + allowed[at]! * Math.exp(logit), 0);
      expect(logprob).toBeCloseTo(logits[id]! - Math.log(total), 4);
      push(id);
    };
    /** What is to come at least; random tokens alone would hardly ever end anything. */
    const ending = () => {
      while (codec.decode(ids).endsWith('\uFFFD')) sample();
      return codec.encode(shortestEnd(after(start, codec.decode(ids))!));
    };
    for (let round = 0; round < 12; round++) {
      for (let count = Math.ceil(3 * uniform()); count > 0; count--) sample();
      ending()
        .slice(0, Math.ceil(8 * uniform()))
        .forEach(push);
    }
    ending().forEach(push);
    expect(codec.stopTokenIds.map((id) => cursor.allowed()[id])).toContain(1);
    await expectValidCalls(codec.parseTurn(Int32Array.from(ids), toolSchemas));
  });

  it.each(codecs)('by $name may be what its template writes of a call', ({ codec }) => {
    const calls = [call('edit', { path: 'a.js', old: '"a < b"', new: '' })];
    const toolCalls = calls.map((one, index) => ({ id: `call-${index}`, ...one }));
    const written = codec.encodeMessage({ role: 'assistant', content: '', toolCalls, raw: '' });
    const cursor = codec.callConstraint(schemas)();
    for (const id of written) {
      expect([codec.decode([id]), cursor.allowed()[id]]).toEqual([codec.decode([id]), 1]);
      cursor.push(id);
    }
  });
});

describe('strings without forbidden parts', () => {
  const letter = bytes([0x61, 0x63]);
  const own = grammar(
    without(many(letter), choice(literal('ab'), sequence(literal('c'), many(literal('c')), literal('a')))),
  );

  it('are those in which a search finds none', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', 'c') }), (text) => {
        expect(after(own, text)?.isWhole ?? false).toBe(!/ab|c+a/.test(text));
      }),
    );
  });

  it('see parts that begin in what stands before', () => {
    const behind = grammar(without(many(letter), literal('ab'), 'a'));
    expect(after(behind, 'b')).toBeNull();
    expect(after(behind, 'cb')?.isWhole).toBe(true);
  });

  it('lead to a whole string from everywhere', () => {
    const ended = grammar(
      without(sequence(many(letter), literal('!')), choice(literal('a!'), literal('ac'), literal('aa'), literal('ab'))),
    );
    // Nothing may follow an `a`, so that none may come.
    expect(after(ended, 'a')).toBeNull();
    expect(after(ended, 'bc!')?.isWhole).toBe(true);
  });
});
