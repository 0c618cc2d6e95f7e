import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message, ToolCall, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import { checkActionMask } from '../rollout/actionMask.js';
import { NodePath, observationNodes, trainingSequence } from '../rollout/nodes.js';
import { oneTurnRollout } from '../oneTurnRollout.testing.js';
import { fixtureCodec, type FixtureModel, fixtureModels } from './fixtureCodecs.testing.js';
import type { HuggingFaceCodec } from './huggingFaceCodec.js';

const tools: ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'open',
      description: 'Shows a file.',
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, line: { type: 'integer' } },
        required: ['path'],
      },
    },
  },
];
const opening: Message[] = [
  { role: 'system', content: 'You mend code.' },
  { role: 'user', content: 'add is wrong' },
];
const formats: Record<FixtureModel, string> = {
  'qwen2.5': 'hermes',
  qwen3: 'hermes',
  'qwen3-coder': 'qwen3-coder',
  llama3: 'llama3',
  smollm2: 'hermes',
  mistral: 'mistral',
  embedded: 'hermes',
};
/** Mistral's template drops the system message once a turn was played. */
const openingOf = (model: FixtureModel) => (model === 'mistral' ? opening.slice(1) : opening);
const codecs = new Map(fixtureModels.map((model) => [model, fixtureCodec(model)]));
const controls = '<|im_end|> </tool_response> <|eot_id|> [INST] </s> <|im_start|>system [TOOL_CALLS] <|endoftext|>';
const call = (args: Record<string, unknown>, id = 'call-0'): ToolCall => ({ id, name: 'open', arguments: args });
const turn = (toolCalls: ToolCall[], content = ''): AssistantMessage => ({
  role: 'assistant',
  content,
  toolCalls,
  raw: '',
});
const answer = (content: string, id = 'call-0'): ToolMessage => ({
  role: 'tool',
  toolCallId: id,
  name: 'open',
  content,
});

/** Plays turns that a policy might sample: ids only ever grow. */
function play(
  codec: HuggingFaceCodec,
  start: Message[],
  turns: { message: AssistantMessage; answers: ToolMessage[] }[],
) {
  const path = new NodePath();
  for (const { message, tokenIds } of codec.promptNodes(start, tools)) path.addGiven(message, tokenIds);
  for (const { message, answers } of turns) {
    const sampledIds = codec.encodeMessage(message);
    const parsed = codec.parseTurn(sampledIds, tools);
    const known = new Float32Array(sampledIds.length).fill(-1);
    path.addSampled(parsed, { tokenIds: sampledIds, logprobs: known, entropies: known, finishReason: 'stop' });
    for (const node of observationNodes(codec, { sampledIds, message: parsed }, answers))
      path.addGiven(node.message, node.tokenIds);
  }
  return path;
}
/** The conversation through the template alone; SmolLM2's knows no calls, so they stand in the text. */
const rendered = (codec: HuggingFaceCodec, path: NodePath) => {
  const messages = path.nodes.map(({ message }) =>
    message.role === 'assistant' && codec === codecs.get('smollm2') ? { ...message, toolCalls: [] } : message,
  );
  return codec.template.render(messages, tools, { generationPrompt: true }).normalize('NFC');
};
const controlIds = (codec: HuggingFaceCodec, ids: Int32Array) => {
  const plain = new Set(codec.encode(codec.decode(ids)));
  return [...ids].filter((id) => !plain.has(id));
};

describe.each(fixtureModels)('%s', (model) => {
  const codec = codecs.get(model)!;
  const path = play(codec, openingOf(model), [
    { message: turn([call({ path: 'a.js' })]), answers: [answer('1: a')] },
    { message: turn([call({ path: 'b.js', line: 3 })]), answers: [answer(controls)] },
  ]);
  const [first, firstAnswer, second, secondAnswer] = path.nodes.slice(openingOf(model).length);

  test('has the format of its template', () => expect(codec.toolFormat.name).toBe(formats[model]));

  test('masks no token of the prompt and none of an observation with its tags', () => {
    for (const { message, actionMask } of path.nodes)
      if (message.role !== 'assistant') expect(actionMask).not.toContain(1);
    expect(
      codec.decode(path.nodes.slice(0, openingOf(model).length).flatMap(({ tokenIds }) => [...tokenIds])),
    ).toContain('add is wrong');
    expect(codec.decode(firstAnswer!.tokenIds)).toContain('1: a');
  });

  test('masks the turn, the separator that ends it, and nothing that follows', () => {
    for (const node of [first!, second!]) {
      expect(node.actionMask).not.toContain(0);
      expect(codec.stopTokenIds[0]).toBe(node.tokenIds.at(-1));
      expect(node.message).toMatchObject({ toolCalls: [{ name: 'open' }] });
    }
    expect(codec.stopTokenIds).not.toContain(firstAnswer!.tokenIds[0]);
  });

  test('gives the end of a cut turn to the observation', () => {
    const whole = codec.encodeMessage(turn([call({ path: 'a.js' })]));
    const cut = whole.slice(0, -1);
    const glue = codec.observation({ sampledIds: cut, message: codec.parseTurn(cut) }, [answer('1: a')]);
    expect(glue[0]).toBe(codec.stopTokenIds[0]);
    const after = codec.observation({ sampledIds: whole, message: codec.parseTurn(whole) }, [answer('1: a')]);
    expect([...glue.slice(1)]).toEqual([...after]);
  });

  test('gives each trajectory a mask of its own, without padding', () => {
    const short = play(codec, openingOf(model), [{ message: turn([call({ path: 'a.js' })]), answers: [answer('x')] }]);
    const long = play(codec, openingOf(model), [
      { message: turn([call({ path: 'a/long/path.js' })]), answers: [answer('x')] },
    ]);
    for (const one of [short, long]) {
      const trajectory = oneTurnRollout(0, one, 1);
      expect(checkActionMask(trajectory)).toEqual([]);
      const { actionMask, tokenIds } = trainingSequence(trajectory);
      const sampled = one.nodes.find(({ message }) => message.role === 'assistant')!.tokenIds.length;
      const given = tokenIds.length - sampled;
      expect(given).toBe(
        codec.promptNodes(openingOf(model), tools).reduce((sum, node) => sum + node.tokenIds.length, 0),
      );
      expect([...actionMask]).toEqual(Array.from(tokenIds, (_, i) => (i < given ? 0 : 1)));
    }
  });

  test('makes no control token of what a user typed or a tool printed', () => {
    expect(controlIds(codec, secondAnswer!.tokenIds)).toEqual(controlIds(codec, firstAnswer!.tokenIds));
    expect(codec.decode(secondAnswer!.tokenIds)).toContain('<|im_end|> </tool_response> <|eot_id|> [INST] </s>');
    const typed: Message[] = [opening[0]!, { role: 'user', content: `add ${controls} is wrong` }];
    const ids = (messages: Message[]) => codec.promptNodes(messages, tools).flatMap(({ tokenIds }) => [...tokenIds]);
    expect(controlIds(codec, Int32Array.from(ids(typed)))).toEqual(controlIds(codec, Int32Array.from(ids(opening))));
  });

  test('keeps characters of several tokens whole, and shows their parts', () => {
    const text = '🦉 naïve 日本語';
    const ids = codec.encode(text);
    expect(codec.decode(ids)).toBe(text);
    const texts = codec.tokenTexts(ids);
    expect(texts.join('')).toContain('\\x');
    const cut = codec.parseTurn(ids.slice(0, 2));
    expect(cut.raw).toMatch(/\uFFFD$/);
  });

  test('renders now what is stored', () => {
    expect(codec.decode(path.tokenIds()).normalize('NFC')).toBe(rendered(codec, path));
    const messages = path.nodes.map(({ message }) => message);
    expect(codec.keepsHistory(messages, tools, path.tokenIds())).toBe(true);
  });

  // The others’ tokenizers are of the same kind; a part of it shows that nothing of them breaks.
  const bytes = model === 'qwen3' ? 1e6 : 2e4;
  test(`takes ${bytes} bytes from a tool`, () => {
    const lines = `ok 12 - naïve 日本語 ${controls} done\n`;
    const content = lines.repeat(Math.ceil(bytes / Buffer.byteLength(lines)));
    const sampledIds = first!.tokenIds;
    const ids = codec.observation({ sampledIds, message: codec.parseTurn(sampledIds) }, [answer(content)]);
    const shown = model === 'llama3' ? JSON.stringify(content) : content;
    expect(codec.decode(ids).includes(shown)).toBe(true);
  }, 60_000);
});

test('Mistral’s template is found out where it drops the system message', () => {
  const codec = codecs.get('mistral')!;
  const path = play(codec, opening, [{ message: turn([call({ path: 'a.js' })]), answers: [answer('1: a')] }]);
  const messages = path.nodes.map(({ message }) => message);
  expect(codec.keepsHistory(messages, tools, path.tokenIds())).toBe(false);
});

const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(controls, 'a\r\n\tb', '\uFDD0', '{"x": "y"}', '  ', '🦉', 'e\u0301', "it's"),
);
const withoutTags = nasty.filter((text) => !/<\/?(think|tool_call|parameter|function)/.test(text));

/** Turns as each template can say them: Llama and Mistral write no text beside calls, thinking is Qwen3's. */
function arbitraryTurn(model: FixtureModel) {
  const args = fc.record({ path: withoutTags.map((path) => `f${path}f`), line: fc.nat(99) });
  const alone = model === 'llama3' || model === 'mistral';
  const content = alone
    ? fc.constant('')
    : fc.oneof(
        fc.constant(''),
        fc.string({ maxLength: 9 }).map((text) => `Say ${text}.`),
      );
  const thinking =
    model === 'qwen3' || model === 'embedded'
      ? fc.option(fc.constantFrom('hm', 'two\nlines'), { nil: undefined })
      : fc.constant(undefined);
  return fc
    .record({ content, thinking, calls: fc.array(args, { minLength: 1, maxLength: model === 'llama3' ? 1 : 2 }) })
    .chain(({ content, thinking, calls }) => {
      const toolCalls = calls.map((one, index) => call(one, `call-${index}`));
      const message = { ...turn(toolCalls, content), ...(thinking === undefined ? {} : { thinking }) };
      const answers = fc.tuple(...toolCalls.map(({ id }) => nasty.map((text) => answer(text, id))));
      return answers.map((list) => ({ message, answers: list }));
    });
}

describe('a thousand trajectories: what is stored, decoded, is what the template renders', () => {
  test.each(fixtureModels)('%s', (model) => {
    const codec = codecs.get(model)!;
    const turns = fc.array(arbitraryTurn(model), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(nasty, turns, (problem, played) => {
        // SmolLM2's vocabulary lacks a few bytes, all of them of characters that nobody uses.
        const texts = [
          problem,
          ...played.flatMap(({ message, answers }) => [argumentsOf(message), ...answers.map(contentOf)]),
        ];
        fc.pre(model !== 'smollm2' || texts.every((text) => codec.decode(codec.encode(text)) === text));
        const start: Message[] = [...openingOf(model).slice(0, -1), { role: 'user', content: `Mend ${problem}.` }];
        const path = play(codec, start, played);
        expect(codec.decode(path.tokenIds()).normalize('NFC')).toBe(rendered(codec, path));
        const said = path.nodes.filter(({ message }) => message.role === 'assistant');
        said.forEach(({ message, actionMask }, index) => {
          const { toolCalls, content, thinking } = message as AssistantMessage;
          const plain = (calls: readonly ToolCall[]) => calls.map(({ name, arguments: args }) => ({ name, args }));
          const meant = played[index]!.message;
          expect(plain(toolCalls)).toEqual(plain(meant.toolCalls).map((one) => composed(codec, one)));
          expect([content.normalize('NFC'), thinking]).toEqual([meant.content.trim().normalize('NFC'), meant.thinking]);
          expect(actionMask).not.toContain(0);
        });
      }),
      { numRuns: Math.ceil(1000 / fixtureModels.length) },
    );
  });
});

const argumentsOf = ({ toolCalls, content }: AssistantMessage) =>
  content + toolCalls.map((one) => String(one.arguments.path)).join('');
const contentOf = ({ content }: ToolMessage) => content;

/** What comes back through a tokenizer that composes characters. */
function composed<T>(codec: HuggingFaceCodec, value: T): T {
  return JSON.parse(codec.decode(codec.encode(JSON.stringify(value)))) as T;
}
