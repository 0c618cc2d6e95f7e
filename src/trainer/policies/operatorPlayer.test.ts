import { createTwoFilesPatch } from 'diff';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { makeTask } from '../../env/folderEnvironment.testing.js';
import { findSuspects } from '../../env/suspects/findSuspects.js';
import { chosen } from '../../env/tools/choose.js';
import { treeAt } from '../../env/tools/startTree.js';
import type { ToolMessage } from '../../trajectory/message.js';
import { openingIn } from '../rollout/scripted.testing.js';
import { operatorPlayer, type OperatorOrder } from './operatorPlayer.js';

const fixed = `export const far = (a) => a < 3;

export function inside(value, low, high) {
  if (value < low) return false;
  return value <= high;
}
`;
const buggy = fixed.replace('value <= high', 'value < high');

const roots: string[] = [];
afterEach(() => Promise.all(roots.splice(0).map((root) => rm(root, { recursive: true, force: true }))));

/** Plays one episode whose tests pass where the text is the fixed one; what was tried, and the text at the end. */
async function play(order: OperatorOrder, testRuns: number, seed = 1) {
  const root = await mkdtemp(join(tmpdir(), 'whetstone-operators-'));
  roots.push(root);
  await writeFile(join(root, 'inside.js'), buggy);
  await writeFile(join(root, 'inside.test.js'), "import './inside.js';\ntest('is inside', () => inside(1, 0, 2));\n");
  const patch = createTwoFilesPatch('a/inside.js', 'b/inside.js', buggy, fixed);
  const task = makeTask({ patch, FAIL_TO_PASS: ['inside.test.js > is inside'] }, { test_files: ['inside.test.js'] });
  const dialogue = await operatorPlayer(order, testRuns).converse(openingIn(root, task, seed));
  const suspects = await findSuspects(task, treeAt(root));
  const tried: string[] = [];
  let text = buggy;
  for (;;) {
    const { toolCalls } = (await dialogue.next(new AbortController().signal))!;
    const observations = toolCalls.map((call): ToolMessage => {
      if (call.name === 'submit') return { role: 'tool', toolCallId: call.id, name: call.name, content: '' };
      expect(call.name).toBe('choose');
      const { function: suspect, number } = call.arguments as { function: number; number: number };
      expect(suspects[suspect - 1]).toMatchObject({ path: 'inside.js', name: 'inside' });
      const result = chosen(suspects[suspect - 1], buggy, number);
      expect(result).toHaveProperty('text');
      text = (result as { text: string }).text;
      tried.push(text);
      const content = text === fixed ? '2 passed, 0 failed' : '1 passed, 1 failed';
      return { role: 'tool', toolCallId: call.id, name: call.name, content };
    });
    if (toolCalls.some(({ name }) => name === 'submit')) return { tried, text };
    dialogue.observe(observations);
  }
}

describe('players who strike with operators', () => {
  test('search through the function at fault and submit what passes', async () => {
    const { tried, text } = await play('operator-search', 100);
    expect(text).toBe(fixed);
    expect(new Set(tried).size).toBe(tried.length);
    expect(tried.at(-1)).toBe(fixed);
    expect(tried.every((one) => one.startsWith('export const far = (a) => a < 3;\n'))).toBe(true);
  });

  test('run the tests as often as they may', async () => {
    const { tried, text } = await play('operator-search', 1);
    expect(tried).toHaveLength(1);
    expect(tried[0]).not.toBe(buggy);
    expect(text).toBe(tried[0]);
  });

  test('draw at random by the seed', async () => {
    const first = async (seed: number) => (await play('random-edit', 1, seed)).tried[0];
    const drawn = await Promise.all([1, 2, 3, 4, 5, 6].map(first));
    expect(new Set(drawn).size).toBeGreaterThan(1);
    expect(await first(3)).toBe(drawn[2]);
  });

  test('give up where they may try nothing', async () => {
    expect(await play('operator-search', 0)).toEqual({ tried: [], text: buggy });
  });
});
