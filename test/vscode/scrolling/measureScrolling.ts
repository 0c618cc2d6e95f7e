import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '../../../src/trajectory/message.js';
import { assistant, RecordedRun } from '../fixtures/recordedRun.js';
import { makeWorkspace } from '../fixtures/workspace.js';
import { Workbench } from '../ui/workbench.js';

export interface ScrollingOptions {
  readonly root: string;
  readonly node: string;
  readonly codeServer: string;
  /** Turns of the trajectory; one has about 570 tokens. */
  readonly turns: number;
}

const seconds = 5;
const observation = Array.from({ length: 12 }, (_, i) => `${i + 1}: export const sum = (a, b) => a + b;`).join('\n');

/** Opens a long trajectory in a real VS Code and scrolls through it; beside it a plain file of the same length, and the window at rest. */
export async function measureScrolling({ root, node, codeServer, turns }: ScrollingOptions): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'whetstone-scrolling-'));
  const folder = makeWorkspace(scratch);
  const run = await RecordedRun.create(folder, 'run-1', 1);
  const messages = Array.from({ length: turns }, (_, turn): Message[] => [
    assistant(`I look once more, for the ${turn}th time.`, 'open', { path: 'sum.js' }),
    { role: 'tool', toolCallId: `call-${turn}`, name: 'open', content: observation },
  ]).flat();
  const trajectory = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 0, messages);
  run.learn(trajectory);
  const { taskId } = trajectory;
  const short = run.rollout(1, taskId, 1);
  run.measure(1, { reward: 1 }, [{ taskId, trajectoryIds: [trajectory.id, short.id], advantages: [1, -1] }]);
  await run.end('completed');
  const plain = `${observation}\n`.repeat(turns);
  writeFileSync(join(folder, 'plain.txt'), plain);
  const tokens = trajectory.nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  const workbench = await Workbench.open({ extension: root, folder, node, codeServer, settings: {} });
  try {
    const { page } = workbench;
    await workbench.showRuns();
    await workbench.unfold('completed');
    await workbench.unfold('Step 1');
    await workbench.unfold('sum-adds');
    await workbench.row('Rollout 1').waitFor();
    for (const [name, text, what] of [
      ['Rollout 2', 'Let me look', 'the first trajectory of a window, a short one'],
      ['Rollout 1', 'I look once more', `then one of ${tokens} tokens`],
    ] as const) {
      const shown = page.evaluate(timeOfLine, text);
      const start = Date.now();
      await workbench.clickRow(name);
      console.log(`${what}: ${(await shown) - start} ms from the click to its text`);
    }
    // Decorations follow a moment later.
    await page.waitForTimeout(3000);
    console.log(`at rest: ${await framesOf(workbench, () => page.waitForTimeout(seconds * 1000))}`);
    console.log(`scrolling it: ${await framesOf(workbench, () => scroll(workbench))}`);
    await page.keyboard.press('Control+P');
    await page.waitForSelector('.quick-input-widget input', { state: 'visible' });
    await page.keyboard.type('plain.txt');
    await workbench.pick('plain.txt');
    await page.locator('.tab.active', { hasText: 'plain.txt' }).waitFor();
    await page.waitForTimeout(3000);
    console.log(`scrolling a plain file of as many turns: ${await framesOf(workbench, () => scroll(workbench))}`);
  } catch (error) {
    await workbench.screenshot('scrolling-failure');
    throw error;
  } finally {
    await workbench.stop();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Turns the wheel over the editor, as fast as the window takes it, and sees to it that the text moves. */
async function scroll({ page }: Workbench): Promise<void> {
  const lines = page.locator('.editor-instance .view-lines').first();
  const before = await lines.innerText();
  const box = await page.locator('.editor-instance .monaco-editor').first().boundingBox();
  if (box === null) throw new Error('No editor is in view.');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) await page.mouse.wheel(0, 300);
  if ((await lines.innerText()) === before) throw new Error('The editor did not scroll.');
}

/** Frames that the window draws while something goes on. */
async function framesOf({ page }: Workbench, something: () => Promise<void>): Promise<string> {
  await page.evaluate(() => {
    const times: number[] = [];
    Object.assign(globalThis, { frameTimes: times });
    const count = (time: number) => {
      times.push(time);
      if ((globalThis as unknown as { frameTimes: unknown }).frameTimes === times) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
  });
  await something();
  const times = await page.evaluate(() => {
    const scope = globalThis as unknown as { frameTimes: number[] };
    const taken = scope.frameTimes;
    scope.frameTimes = [];
    return taken;
  });
  const gaps = times
    .slice(1)
    .map((time, i) => time - times[i])
    .sort((a, b) => a - b);
  const rate = (1000 * gaps.length) / (times.at(-1)! - times[0]);
  const share = gaps.filter((gap) => gap <= 20).length / gaps.length;
  return `${rate.toFixed(0)} frames a second, ${(100 * share).toFixed(0)} % within 20 ms, the longest ${gaps.at(-1)!.toFixed(0)} ms`;
}

/** When a line of an editor holds the text first, looked at every frame: a locator that waits looks every half second only. */
function timeOfLine(text: string): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      const lines = [...document.querySelectorAll('.view-line')];
      if (lines.some((line) => line.textContent.replaceAll('\u00a0', ' ').includes(text))) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  });
}
