import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { NodePath, observationNodes } from '../../trainer/rollout/nodes.js';
import { HuggingFaceCodec } from '../../trainer/text/huggingFaceCodec.js';
import { parseAssistantText } from '../../trainer/text/toolCalls.js';
import type { Message, ToolMessage, ToolSchema } from '../../trajectory/message.js';
import { conversationOf } from '../conversation.js';
import { toTrl } from './trl.js';

const fixtures = path.join(import.meta.dirname, '../../../test-fixtures/text');
const golden = path.join(import.meta.dirname, 'golden');
const masksFile = path.join(golden, 'trl_masks.json');

const tools: ToolSchema[] = [
  {
    type: 'function',
    function: {
      name: 'open',
      description: 'Shows a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  },
];
const opening: Message[] = [
  { role: 'system', content: 'You mend code.' },
  { role: 'user', content: 'add is wrong' },
];
const call = (file: string) => `<tool_call>\n{"name": "open", "arguments": {"path": "${file}"}}\n</tool_call>`;
const thought = (text: string) => `<think>\n${text}\n</think>\n\n`;

/**
 * What is played with each template: turns as their models sample them, and between them what the tool answers. Llama 3's first
 * template knows no tools.
 */
const played: Readonly<Record<string, { tools: ToolSchema[]; turns: string[]; answers: string[] }>> = {
  qwen2_5: {
    tools,
    turns: [`I look.\n${call('add.js')}`, call('b.js'), 'It is the sign.'],
    answers: ['a - b', 'x\n'],
  },
  qwen3: {
    tools,
    turns: [
      `${thought('Which file?')}I look.\n${call('add.js')}`,
      `${thought('One more.')}${call('b.js')}`,
      `${thought('Clear.')}It is the sign.`,
    ],
    answers: ['a - b', 'x\n'],
  },
  llama3: { tools: [], turns: ['It is the sign.'], answers: [] },
};
/** What stands before each line break that TRL's variant of the template marks and nobody sampled, once a turn. */
const unsampled: Readonly<Record<string, string[]>> = {
  qwen2_5: ['ant', '<|im_end|>'],
  qwen3: ['<|im_end|>'],
  llama3: [],
};
const names = Object.keys(played);

const goldenOf = (text: string) =>
  JSON.parse(text) as Record<string, { template: string; text: string[]; mask: number[] }>;

it('are conversations that TRL is asked about (renew with `vitest run -u`, then run scripts/golden/trl_masks.py)', async () => {
  const conversations = Object.fromEntries(
    names.map((name) => {
      const { turns, answers, tools: known } = played[name];
      const messages = turns.flatMap((raw, index) => [parseAssistantText(raw), ...observationsOf(answers[index])]);
      return [name, toTrl(conversationOf([...opening, ...messages]), known)];
    }),
  );
  await expect(`${JSON.stringify(conversations, null, 2)}\n`).toMatchFileSnapshot(
    path.join(golden, 'trl_mask_conversations.json'),
  );
});

it.skipIf(!existsSync(masksFile)).each(names)(
  'TRL learns from the tokens that we do, and from line breaks around a turn that nobody sampled: %s',
  (name) => {
    const { template, text, mask } = goldenOf(readFileSync(masksFile, 'utf8'))[name];
    const codec = codecWith(name, template);
    const path = new NodePath();
    const { tools: known, turns, answers } = played[name];
    for (const { message, tokenIds } of codec.promptNodes(opening, known)) path.addGiven(message, tokenIds);
    for (const [index, raw] of turns.entries()) {
      const sampledIds = codec.encodeTurn(raw);
      const message = codec.parseTurn(sampledIds, known);
      const values = new Float32Array(sampledIds.length).fill(-1);
      path.addSampled(message, { tokenIds: sampledIds, logprobs: values, entropies: values, finishReason: 'stop' });
      if (answers[index] === undefined) continue;
      for (const node of observationNodes(codec, { sampledIds, message }, observationsOf(answers[index])))
        path.addGiven(node.message, node.tokenIds);
    }
    const ours = codec.tokenTexts(path.nodes.flatMap(({ tokenIds }) => [...tokenIds]));
    const ourMask = path.nodes.flatMap(({ actionMask }) => [...actionMask]);
    // TRL's rendering goes on behind the last turn with what the template puts there.
    expect(ours).toEqual(text.slice(0, ours.length));
    const extra = text.flatMap((_, index) => (mask[index] === (ourMask[index] ?? 0) ? [] : [index]));
    const expected = turns.flatMap(() => unsampled[name]);
    expect(extra.map((index) => [text[index - 1], text[index], mask[index]])).toEqual(
      expected.map((before) => [before, '\n', 1]),
    );
    const learned = (bits: readonly number[]) => bits.filter((bit) => bit === 1).length;
    expect(learned(ourMask)).toBe(learned(mask) - expected.length);
    expect(learned(ourMask)).toBeGreaterThan(0);
  },
);

const observationsOf = (content: string | undefined): ToolMessage[] =>
  content === undefined ? [] : [{ role: 'tool', toolCallId: 'call-0', name: 'open', content }];

function codecWith(name: string, chatTemplate: string) {
  const folder = path.join(fixtures, name.replace('_', '.'));
  const json = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Record<string, unknown>;
  const { eos_token_id: eos } = json('generation_config.json');
  return new HuggingFaceCodec({
    tokenizer: json('tokenizer.json'),
    tokenizerConfig: json('tokenizer_config.json'),
    chatTemplate,
    eosTokenIds: ([] as number[]).concat(eos as number | number[]),
    where: name,
  });
}
