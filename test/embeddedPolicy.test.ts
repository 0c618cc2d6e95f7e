import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemPrompt } from '../src/env/tools/prompts.js';
import { toolSchemas } from '../src/env/tools/tools.js';
import { embeddedModelFolder, loadCheckpoint } from '../src/trainer/model/checkpoint.js';

const megabyte = 1 << 20;

describe('the embedded policy', () => {
  test('is at most 12 MB with its tokenizer and its card', async () => {
    const folder = embeddedModelFolder();
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
    expect(names).toEqual(expect.arrayContaining(['MODEL_CARD.md', 'config.json', 'model.safetensors']));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(12 * megabyte);
  });

  test('loads, and its tokenizer fits its embedding', async () => {
    const { config, codec, parameters } = await loadCheckpoint('embedded');
    expect(codec.vocabularySize).toBeLessThanOrEqual(config.vocabularySize);
    expect([...parameters.values()].every((values) => values.every(Number.isFinite))).toBe(true);
  });

  test('has a chat template that leaves earlier turns as they were sampled', async () => {
    const { codec } = await loadCheckpoint('embedded');
    const opening = [{ role: 'user' as const, content: 'Mend it.' }];
    const sampled = codec.encodeTurn(
      '<think>\nhm\n</think>\n<tool_call>\n{"name": "open", "arguments": {"path": "a.js"}}\n</tool_call>',
    );
    const message = codec.parseTurn(sampled);
    const answer = { role: 'tool' as const, toolCallId: 'call-0', name: 'open', content: 'An answer.' };
    const glue = codec.observation({ sampledIds: sampled, message }, [answer]);
    const ids = [...codec.promptNodes(opening, [])[0].tokenIds, ...sampled, ...glue];
    expect(codec.keepsHistory([...opening, message, answer], [], ids)).toBe(true);
  });

  test('spends few tokens on what every episode repeats', async () => {
    const { codec } = await loadCheckpoint('embedded');
    const nodes = codec.promptNodes([{ role: 'system', content: systemPrompt(toolSchemas) }], toolSchemas);
    expect(nodes[0].tokenIds.length).toBeLessThan(120);
    const call = '<tool_call>\n{"name": "run_tests", "arguments": {}}\n</tool_call>';
    expect(codec.encodeTurn(call).length).toBeLessThanOrEqual(6);
  });

  test('reads a turn of an edit as the call that it is', async () => {
    const { codec } = await loadCheckpoint('embedded');
    const raw =
      '<think>\nadd, line 2: - should be +.\n</think>\n<tool_call>\n{"name": "edit", "arguments": ' +
      '{"path": "src/add.js", "old": "return a - b;", "new": "return a + b;"}}\n</tool_call>';
    const turn = codec.parseTurn(codec.encodeTurn(raw));
    expect(turn.thinking).toBe('add, line 2: - should be +.');
    expect(turn.toolCalls.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['edit', { path: 'src/add.js', old: 'return a - b;', new: 'return a + b;' }],
    ]);
  });
});
