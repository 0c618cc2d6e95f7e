import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tools } from '../../../env/tools/tools.js';
import { onlyAllowed, sampleToken, uniformStream } from '../../model/sampling.js';
import { fixtureCodec } from '../fixtureCodecs.testing.js';
import { spacedJson } from '../toolFormats/json.js';
import { callGrammar, type CallSchema } from './callGrammar.js';

const schemas: CallSchema[] = tools.map(({ name, argumentsSchema }) => ({ name, parameters: argumentsSchema }));
const start = callGrammar(schemas);

function isWhole(text: string): boolean {
  let state: typeof start | null = start;
  for (const byte of new TextEncoder().encode(text)) state = state?.next(byte) ?? null;
  return state?.isWhole ?? false;
}

const call = (name: string, args: object) =>
  `<tool_call>\n{"name": "${name}", "arguments": ${spacedJson(args)}}\n</tool_call>`;

describe('the grammar of turns', () => {
  it('has every valid call, with text and thinking before and others behind it', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    const calls = fc.oneof(
      text.map((command) => call('run_command', { command })),
      fc.record({ path: text, old: fc.string(), new: fc.string() }).map((args) => call('edit', args)),
      fc.array(text, { maxLength: 3 }).map((files) => call('run_tests', { files })),
      fc.record({ path: text, line: fc.nat(99_999) }).map((args) => call('open', args)),
      fc.record({ query: text, path: text }, { requiredKeys: ['query'] }).map((args) => call('search', args)),
      fc.constant(call('submit', {})),
    );
    fc.assert(
      fc.property(fc.array(calls, { minLength: 1, maxLength: 3 }), (all) => {
        expect(isWhole(all.join('\n'))).toBe(true);
        expect(isWhole(`<think>\nwhy\n</think>\nSo.\n${all.join('\n')}`)).toBe(true);
      }),
    );
  });

  it('has no other', () => {
    for (const text of [
      '',
      'Done.',
      call('view', {}),
      call('submit', { now: 'yes' }),
      call('run_command', {}),
      call('run_command', { command: '' }),
      call('run_command', { command: 3 }),
      call('open', { path: 'a', line: 1.5 }),
      call('edit', { path: 'a', old: 'b' }),
      call('submit', {}).slice(0, -1),
      `${call('submit', {})} and more`,
      '<tool_call>\n{"name": "open", "arguments": {"path": "a\nb"}}\n</tool_call>',
      '<b>',
    ]) {
      expect([text, isWhole(text)]).toEqual([text, false]);
    }
  });
});

describe('a turn that is sampled under it', () => {
  it('is a valid call whatever the policy would say, unless it is cut, with the log-probabilities of what was possible', async () => {
    for (const model of ['embedded', 'qwen2.5'] as const) {
      const codec = fixtureCodec(model);
      const constraint = codec.callConstraint(schemas);
      const all = Array.from({ length: codec.vocabularySize }, (_, id) => id);
      const liking = Float32Array.from(codec.tokenTexts(all), likings);
      for (let seed = 0; seed < (model === 'embedded' ? 4 : 1); seed++) {
        const uniform = uniformStream(seed);
        const cursor = constraint();
        const ids: number[] = [];
        while (ids.length < 150 && !codec.stopTokenIds.includes(ids.at(-1) ?? -1)) {
          // Random logits; a liking for what ends strings, else random text would hardly ever end.
          const logits = liking.map((bias) => 4 * uniform() + bias);
          const allowed = cursor.allowed();
          const { id, logprob } = sampleToken(
            onlyAllowed(logits, allowed),
            { temperature: 1, topP: 1, topK: 0 },
            uniform(),
          );
          const possible = logits.filter((_, at) => allowed[at] === 1);
          const total = possible.reduce((sum, logit) => sum + Math.exp(logit), 0);
          expect(logprob).toBeCloseTo(logits[id]! - Math.log(total), 4);
          cursor.push(id);
          ids.push(id);
        }
        const turn = codec.parseTurn(Int32Array.from(ids));
        const wasCut = !codec.stopTokenIds.includes(ids.at(-1)!);
        if (wasCut) continue;
        expect(turn.malformedCall).toBeUndefined();
        expect(turn.toolCalls.length).toBeGreaterThan(0);
        for (const { name, arguments: args } of turn.toolCalls) {
          const schema = tools.find((tool) => tool.name === name)!;
          // The tool's own check of its arguments; what it would do then needs a tree.
          const answer = await schema.call(args, {} as never).catch(() => ({ valid: true }));
          expect([name, args, answer.valid]).toEqual([name, args, true]);
        }
      }
    }
  });

  it('is refused for formats whose grammar is not known', () => {
    expect(() => fixtureCodec('mistral').callConstraint(schemas)).toThrow(/mistral, whose grammar is not known/);
  });
});

const likings = (text: string) => (text.includes('"') || text.includes('<') ? 12 : text.includes('</') ? 14 : 0);
