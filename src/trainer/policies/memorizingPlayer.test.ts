import { createTwoFilesPatch } from 'diff';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ToolMessage } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import { openingIn } from '../rollout/scripted.testing.js';
import { memorizingPlayer } from './memorizingPlayer.js';

const roots: string[] = [];
afterEach(() => Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true, force: true }))));

const taskOf = (path: string, before: string, after: string) =>
  ({ instance_id: path, patch: createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after) }) as Task;

const learned = [
  taskOf('a.js', 'a < 1\n', 'a <= 1\n'),
  taskOf('a.js', 'a < 2\n', 'a <= 2\n'),
  taskOf('b.js', 'b\n', 'c\n'),
  taskOf('gone.js', 'b\n', 'c\n'),
  { instance_id: 'broken', patch: 'no patch' } as Task,
];

/** What the player calls in a tree, where the tests pass after so many changes. */
async function play(files: Readonly<Record<string, string>>, passesAfter: number) {
  const root = await mkdtemp(join(tmpdir(), 'whetstone-memorized-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
  const dialogue = await memorizingPlayer(learned).converse(openingIn(root, learned[0]));
  const patches: unknown[] = [];
  for (;;) {
    const { toolCalls } = (await dialogue.next(new AbortController().signal))!;
    if (toolCalls.some(({ name }) => name === 'submit')) return patches;
    patches.push(toolCalls.find(({ name }) => name === 'apply_patch')!.arguments.patch);
    const content = patches.length >= passesAfter ? '2 passed, 0 failed' : '1 passed, 1 failed';
    dialogue.observe(toolCalls.map(({ id, name }): ToolMessage => ({ role: 'tool', toolCallId: id, name, content })));
  }
}

test('makes what it learned and what fits the tree, until the tests pass', async () => {
  expect(await play({ 'a.js': 'a < 1\n', 'b.js': 'b\n' }, 2)).toEqual([learned[0].patch, learned[2].patch]);
  expect(await play({ 'a.js': 'a < 1\n', 'b.js': 'b\n' }, 1)).toEqual([learned[0].patch]);
});

test('hands in nothing where it learned nothing that fits', async () => {
  expect(await play({ 'a.js': 'a < 3\n' }, 1)).toEqual([]);
});
