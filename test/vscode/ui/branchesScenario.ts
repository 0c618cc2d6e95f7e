import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { mendingAsRecorded, writeRecordedPolicy } from '../fixtures/recordedRun.js';
import type { Scenario } from './playScenario.js';
import type { Workbench } from './workbench.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';

/** Answers how many branches are to be played in place of the turn, and waits for what came of them. */
async function branch(workbench: Workbench, turn: number, count: number): Promise<void> {
  const { page } = workbench;
  const title = page.locator('.quick-input-title', { hasText: `Play on in place of turn ${turn}` });
  await title.waitFor();
  await page.keyboard.type('0');
  await page.locator('.quick-input-message', { hasText: 'Give a number from 1 to 64.' }).waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.type(String(count));
  await page.keyboard.press('Enter');
  // An answer that is still being checked is lost where something else is asked.
  await title.waitFor({ state: 'hidden' });
  // A policy of random weights solves nothing.
  await workbench.notification(`0 of ${count} branches solved the task.`);
}

const steps: Scenario['steps'] = [
  [
    'Branch Here on a turn of an open trajectory plays on, and shows the branches beside it as a tree',
    async ({ workbench, run, folder }) => {
      // A repository that trains cannot be branched.
      await run.end('stopped');
      await workbench.showRuns();
      await workbench.unfold('step 2 of 3');
      await workbench.unfold('Step 1');
      await workbench.unfold(`${taskId}1 of 2 solved`);
      await workbench.clickRow('Rollout 2');
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.page.locator('.codelens-decoration a', { hasText: 'Branch here' }).first().click();
      await branch(workbench, 1, 2);
      await workbench.screenshot('branches-played-dark');
      await workbench.row(`${taskId}1 of 4 solved`).waitFor();
      await workbench.row('Rollout 4').waitFor();
      await workbench.page.locator('.notification-list-item a', { hasText: 'Show Rollouts as a Tree' }).first().click();
      const outcomes = workbench.webview().locator('.node.outcome');
      await outcomes.first().waitFor();
      assert.equal(await outcomes.count(), 4);
      await workbench.screenshotThemes('branches');
      assert.deepEqual(readdirSync(join(folder, '.whetstone', 'worktrees')), []);
    },
  ],
  [
    'Branch Here on a replay that is paused plays on behind the turn that it stands at',
    async ({ workbench, folder }) => {
      await workbench.command('View: Close All Editors');
      await workbench.command('Notifications: Clear All Notifications');
      // Folded, so that the other step has room.
      await workbench.row('Step 1').locator('.monaco-tl-twistie').click();
      await workbench.row('Rollout').waitFor({ state: 'detached' });
      await workbench.unfold('Step 2');
      await workbench.unfold(`${taskId}1 of 1 solved`);
      await workbench.clickRow('advantage +0.00');
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.command('Whetstone: Step Through Trajectory');
      const { page } = workbench;
      await page.locator('.debug-toolbar').waitFor();
      await page.locator('.debug-call-stack .monaco-list-row', { hasText: 'start' }).first().waitFor();
      await page.keyboard.press('F10');
      await page.locator('.debug-call-stack .monaco-list-row', { hasText: 'turn 1' }).first().waitFor();
      await page.locator('.debug-toolbar [aria-label^="Branch Here"]').click();
      await branch(workbench, 2, 1);
      await workbench.screenshotThemes('branches-of-a-replay');
      await page.locator('.debug-toolbar [aria-label^="Stop"]').click();
      await page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
      await workbench.showRuns();
      // The turn that it stood at is the branch's too.
      await workbench.row(`${taskId}1 of 2 solved`).waitFor();
      await workbench.row(/Rollout 2.*· 2 turns/).waitFor();
      for (const end = Date.now() + 30_000; readdirSync(join(folder, '.whetstone', 'worktrees')).length > 0;) {
        assert.ok(Date.now() < end, 'the worktrees of replay and branch are gone');
        await page.waitForTimeout(100);
      }
    },
  ],
];

/** Going on from a recorded turn otherwise than it was recorded. */
export const branchesScenario: Scenario = {
  runSteps: 3,
  // Short turns, since a policy of random weights says nothing.
  runSettings: async (folder) => ({
    model: await writeRecordedPolicy(folder),
    ...{ device: 'cpu', maxTurns: 2, maxTokensPerTurn: 20, concurrency: 2 },
  }),
  prepare: (run) => {
    run.step(1);
    run.measure(2, { reward: 1.2 }, [
      { taskId, trajectoryIds: [run.rollout(2, taskId, 0, mendingAsRecorded).id], advantages: [0] },
    ]);
  },
  steps,
};
