import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { commitFile, taskOf } from '../fixtures/workspace.js';
import type { Scenario } from './playScenario.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';
const slowTaskId = 'waiting__sleep__slow.js_1';
/** Longer than any step of the scenario. */
const slowTest =
  "import test from 'node:test';\ntest('never ends', () => new Promise((done) => setTimeout(done, 300_000)));\n";
/** What a repository may call a test: links that run commands, HTML, icons, letters in another direction. */
const hostileTest = 'slow.test.js > <b>b</b> [quit](command:workbench.action.quit) $(trash) \u202eeman';
const funnel = { found: 3, skipped: {}, invalid: {}, flaky: 0, kept: 3, sources: {} };

const worktrees = (folder: string) => readdirSync(join(folder, '.whetstone', 'worktrees'));

/** Waits until the check holds. */
async function eventually(check: () => void): Promise<void> {
  for (const end = Date.now() + 60_000; ; await sleep(100)) {
    try {
      return check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

const steps: Scenario['steps'] = [
  [
    'the Testing view shows the tests of the tasks and runs them in the start tree',
    async ({ workbench }) => {
      await workbench.showRuns();
      await workbench.row('arithmetic-swap · train').waitFor();
      await workbench.command('Testing: Focus on Test Explorer View');
      await workbench.unfold(taskId);
      await workbench.unfold('FAIL_TO_PASS');
      await workbench.row('sum.test.js > sum adds').waitFor();
      await workbench.row(taskId).hover();
      await workbench.row(taskId).locator('[aria-label*="Run Test"]').first().click();
      await workbench.page.locator('.test-explorer .monaco-list-row[aria-label*="Failed"]').first().waitFor();
      await workbench.row('sum.test.js > sum adds').click();
      await workbench.screenshotThemes('testing');
    },
  ],
  [
    'a run in the Testing view is cancelled: its tests count as skipped, and their process is gone with its worktree',
    async ({ workbench, folder }) => {
      const { page } = workbench;
      const item = page.locator('.test-explorer .monaco-list-row', { hasText: slowTaskId }).first();
      await item.hover();
      await item.locator('[aria-label*="Run Test"]').first().click();
      await page.locator('.test-explorer .monaco-list-row[aria-label*="Running"]', { hasText: slowTaskId }).waitFor();
      // The test has begun once its worktree says so.
      await eventually(() => assert.notEqual(worktrees(folder).length, 0));
      await workbench.screenshot('testing-running-dark');
      await workbench.command('Test: Cancel Test Run');
      await page.locator('.test-explorer .monaco-list-row[aria-label*="Skipped"]', { hasText: slowTaskId }).waitFor();
      await page.locator('.test-explorer .monaco-list-row[aria-label*="Running"]').waitFor({ state: 'detached' });
      await eventually(() => assert.deepEqual(worktrees(folder), []));
      await workbench.screenshotThemes('testing-cancelled');
    },
  ],
  [
    'the tests of a task run with its oracle from the view of tasks',
    async ({ workbench }) => {
      await workbench.showRuns();
      await workbench.row('arithmetic-swap · train').hover();
      await workbench.row('arithmetic-swap · train').locator('[aria-label^="Run Tests of Task"]').click();
      await workbench.screenshot('tasks-run-tests-dark');
      await workbench.pick('With the Oracle');
      await workbench.command('Testing: Focus on Test Explorer View');
      await workbench.page
        .locator('.test-explorer .monaco-list-row[aria-label*="Passed"]', { hasText: taskId })
        .waitFor();
      await workbench.screenshot('testing-oracle-dark');
    },
  ],
  [
    'the name of a test stays text in the Testing view: no icon, no link, no other direction',
    async ({ workbench }) => {
      await workbench.row(taskId).locator('.monaco-tl-twistie').click();
      await workbench.unfold(slowTaskId);
      await workbench.unfold('PASS_TO_PASS');
      const shown = '<b>b</b> [quit] (command:workbench.action.quit) $(trash) \\u{202e}eman';
      const row = workbench.page.locator('.test-explorer .monaco-list-row', { hasText: shown }).first();
      await row.waitFor();
      assert.equal(await row.locator('.codicon-trash, .label a').count(), 0);
      await workbench.screenshot('testing-hostile-dark');
    },
  ],
  [
    'a task is excluded with a reason, says so, and is included again',
    async ({ workbench }) => {
      await workbench.showRuns();
      await workbench.command('Whetstone: Exclude Task');
      await workbench.pick(taskId);
      await workbench.page.locator('.quick-input-title', { hasText: 'from training and evaluation' }).waitFor();
      await workbench.page.keyboard.type('needs a network');
      await workbench.page.keyboard.press('Enter');
      await workbench.row('excluded: needs a network · arithmetic-swap').waitFor();
      await workbench.screenshotThemes('tasks-excluded');
      await workbench.command('Whetstone: Include Task Again');
      await workbench.row('excluded: needs a network').waitFor({ state: 'detached' });
    },
  ],
  [
    'a task is taken over by hand, several lines are written in an editor, and the episode is kept',
    async ({ workbench }) => {
      await workbench.fromMenu('arithmetic-swap · train', 'Take Over');
      const title = (text: string) => workbench.page.locator('.quick-input-title', { hasText: text });
      const type = async (argument: string, text: string) => {
        await title(`edit · ${argument}`).waitFor();
        await workbench.page.keyboard.type(text);
        await workbench.page.keyboard.press('Enter');
      };
      await title('Turn 1: call a tool').waitFor();
      await workbench.screenshotThemes('take-over');
      await workbench.pick('edit');
      await type('path', 'sum.js');
      await type('old', 'a - b');
      await title('edit · new').waitFor();
      await workbench.screenshot('take-over-argument-dark');
      await workbench.page.locator('.quick-input-titlebar [aria-label^="Write Several Lines"]').click();
      await title('edit · new').waitFor({ state: 'hidden' });
      await workbench.page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
      await workbench.page.keyboard.type('a + b');
      await workbench.command('Whetstone: Use This Text');
      await type('line', '');
      await title('Turn 2: call a tool').waitFor();
      await workbench.page.locator('.view-line', { hasText: 'turn 1' }).first().waitFor();
      await workbench.pick('submit');
      await workbench.page.locator('.view-line', { hasText: 'Solved (submitted), reward' }).first().waitFor();
      await workbench.screenshotThemes('take-over-solved');
      await workbench.row('completed · step 0 of 0').waitFor();
    },
  ],
  [
    'tasks and trajectories are sorted, and stay so after a reload',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Sort Tasks');
      await workbench.pick('By Name');
      await workbench.page.locator('.pane-header', { hasText: 'By Name' }).waitFor();
      await workbench.command('Whetstone: Sort Trajectories');
      await workbench.screenshot('sort-runs-dark');
      await workbench.pick('Lowest Reward First');
      await workbench.page.locator('.pane-header', { hasText: 'Lowest Reward First' }).waitFor();
      await workbench.unfold('step 1 of 3');
      await workbench.unfold('Step 1');
      await workbench.unfold(`${taskId}1 of 2 solved`);
      const rollouts = workbench.page.locator('.pane-body .monaco-list-row', { hasText: /Rollout \d/ });
      await rollouts.first().waitFor();
      await workbench.waitFor(isSorted);
      await workbench.screenshotThemes('runs-sorted');
      await workbench.reload();
      await workbench.page.locator('.pane-header', { hasText: 'Lowest Reward First' }).waitFor();
      await workbench.page.locator('.pane-header', { hasText: 'By Name' }).waitFor();
    },
  ],
];

/** Evaluated in the page: the first of the rollouts in view is the second that was played. */
const isSorted =
  "[...document.querySelectorAll('.pane-body .monaco-list-row')].map((row) => row.textContent).find((text) => /Rollout \\d/.test(text))?.includes('Rollout 2')";

/** What a user does with tasks: their tests, which of them count, and in which order they stand. */
export const tasksScenario: Scenario = {
  runSteps: 3,
  prepare: async (run, folder) => {
    const ids = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
    const task = { ...taskOf(folder, taskId), ...ids };
    const heldout = {
      ...task,
      instance_id: `another-${taskId}`,
      whetstone: { ...task.whetstone, split: 'heldout' },
    } as const;
    commitFile(folder, 'slow.test.js', slowTest);
    const slow = taskOf(folder, slowTaskId);
    const slowTask = {
      ...slow,
      ...{ FAIL_TO_PASS: ['slow.test.js > never ends'], PASS_TO_PASS: [hostileTest] },
      whetstone: { ...slow.whetstone, test_files: ['slow.test.js'], operator: 'sleep' },
    };
    await writeTasks(run.stateFolder, 'key', { tasks: [task, heldout, slowTask], funnel, quarantined: [], notes: [] });
    run.step(1);
  },
  steps,
};
