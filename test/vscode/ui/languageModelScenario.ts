import assert from 'node:assert/strict';
import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { settleTasks } from '../../../src/trainer/run/createRun.js';
import { taskOf } from '../fixtures/workspace.js';
import type { Scenario } from './playScenario.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';
const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };

const steps: Scenario['steps'] = [
  [
    'a language model of another extension plays the held-out tasks, and its episodes are kept as a run',
    async ({ workbench, run }) => {
      const { page } = workbench;
      await run.end('stopped');
      await workbench.showRuns();
      await workbench.row('stopped · step 1 of 3').waitFor();
      await workbench.command('Whetstone: Evaluate with a Language Model…');
      await page.locator('.quick-input-title', { hasText: 'Language Model That Plays' }).waitFor();
      await workbench.screenshotThemes('language-models');
      await workbench.pick('The mender');
      await workbench.pick('All 1 Held-out Tasks');
      await workbench.notification('The mender solved 1 of 1 tasks.');
      await workbench.screenshotThemes('language-model-played');
      await workbench.unfold('completed · step 0 of 0');
      await workbench.unfold('Evaluation before training');
      await workbench.unfold('1 of 1 solved');
      await workbench.row(/Episode 1.*solved.*3 turns/).waitFor();
    },
  ],
  [
    'it plays on from a recorded turn, otherwise than it was recorded',
    async ({ workbench }) => {
      const { page } = workbench;
      await workbench.command('Whetstone: Branch Here with a Language Model…');
      await workbench.pick('The mender');
      await workbench.pick('run-1');
      await workbench.pick(taskId);
      await workbench.pick('Turn 1');
      const count = page.locator('.quick-input-title', { hasText: 'Play on in place of turn 1' });
      await count.waitFor();
      await page.keyboard.type('2');
      await page.keyboard.press('Enter');
      await count.waitFor({ state: 'hidden' });
      await workbench.notification('2 of 2 branches solved the task.');
    },
  ],
  [
    'one whose quota is used up says so, and its name stays text',
    async ({ workbench }) => {
      const { page } = workbench;
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Whetstone: Evaluate with a Language Model…');
      const row = page.locator('.quick-input-list .monaco-list-row', {
        hasText: 'The exhausted [quit] (command:workbench.action.quit) $(trash) \\u{202e}',
      });
      await row.first().waitFor();
      assert.equal(await row.locator('.codicon-trash').count(), 0);
      await row.first().click();
      await workbench.pick('All 1 Held-out Tasks');
      const item = await workbench.notification('answers no more: a quota is used up');
      assert.equal(await item.locator('.notification-list-item-message a').count(), 0);
      await workbench.screenshotThemes('language-model-exhausted');
    },
  ],
];

/** What models that other extensions bring do in place of a policy. */
export const languageModelScenario: Scenario = {
  runSteps: 3,
  prepare: async (run, folder) => {
    const tests = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
    const task = { ...taskOf(folder, taskId), ...tests };
    const other = { ...task, instance_id: `another-${taskId}` };
    const tasks = [task, { ...other, whetstone: { ...task.whetstone, split: 'heldout' } } as const];
    await writeTasks(run.stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
    await settleTasks(run.paths, run.config, tasks);
    run.step(1);
  },
  steps,
};
