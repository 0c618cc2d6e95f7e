import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settleTasks } from '../../../src/trainer/run/createRun.js';
import { settingsFileName } from '../../../src/trainer/run/settings.js';
import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { writeRecordedPolicy } from '../fixtures/recordedRun.js';
import { commitFile, taskOf } from '../fixtures/workspace.js';
import type { Scenario } from './playScenario.js';
import type { Workbench } from './workbench.js';

const taskId = 'sum-adds__comparison-flip__sum.js_4';
/** What a record may claim: links that run commands, HTML, icons, letters in another direction. */
const hostileName = '<b>b</b> [quit](command:workbench.action.quit) $(trash) \u202eeman';
const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };

/** What makes or tries tasks runs tests many times; in milliseconds. */
const manyTests = 200_000;
const choice = ({ page }: Workbench, text: string) =>
  page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
const line = ({ page }: Workbench, text: string) => page.locator('.view-line', { hasText: text }).first();
const title = ({ page }: Workbench, text: string) => page.locator('.quick-input-title', { hasText: text });

const steps: Scenario['steps'] = [
  [
    'Compare Checkpoints… offers the newest first, a broken one with what is wrong, and the embedded policy, plays two, and says what differs',
    async ({ workbench, run }) => {
      await run.end('stopped');
      await workbench.showRuns();
      await workbench.row('stopped · step 1 of 3').waitFor();
      await workbench.command('Whetstone: Compare Checkpoints');
      await title(workbench, 'Checkpoint to compare').waitFor();
      await choice(workbench, 'step 2').waitFor();
      const offered = await workbench.page.locator('.quick-input-list .label-name').allInnerTexts();
      // What is wrong with the broken one stands below its name.
      assert.deepEqual(
        offered.flatMap((text) => / · (step \d)$/.exec(text)?.[1] ?? []),
        ['step 3', 'step 2', 'step 1'],
      );
      const broken = choice(workbench, 'step 3').filter({ hasText: 'Broken: state.json: ' });
      await broken.locator('.codicon-warning').waitFor();
      await workbench.screenshotThemes('broken-checkpoint');
      // The newest is the first: what a key picks.
      await workbench.page.keyboard.press('Enter');
      await workbench.notification('step-000003 is broken (state.json: ');
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Whetstone: Compare Checkpoints');
      await workbench.pick('step 2');
      await title(workbench, 'step 2 with').waitFor();
      await choice(workbench, 'the policy that comes with Whetstone').waitFor();
      await workbench.screenshot('compare-with-dark');
      await workbench.pick('step 1');
      await line(workbench, 'step 2 against').waitFor();
      // Two policies of random weights solve nothing.
      const success = '0 % solved (0 % to 79 %) of 1';
      await line(workbench, `step 2: ${success}`).waitFor();
      await line(workbench, `step 1: ${success}`).waitFor();
      await line(workbench, 'Difference: +0.0 points').waitFor();
      await line(workbench, 'Tasks: 1; p = 1.0 (exact paired sign-flip test)').waitFor();
      await line(workbench, 'Tasks that got better').waitFor();
      await workbench.screenshotThemes('compared');
    },
  ],
  [
    'Examine Run with the Doctor finds in the whole record what was not reported, and a remedy opens its settings',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Examine Run with the Doctor');
      await workbench.unfold('mask-leak');
      await workbench.notification('The doctor found 1 critical in run run-1.');
      await workbench.unfold('equal-rewards');
      await workbench.clickRow('To do: Raise');
      await workbench.page.locator('.settings-editor .setting-item-label', { hasText: 'Group Size' }).first().waitFor();
      await workbench.screenshot('remedy-settings-dark');
    },
  ],
  [
    'Show Log opens what the background process wrote',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Show Log');
      await line(workbench, 'The log of the background process.').waitFor();
    },
  ],
  [
    'what makes the start tree of a task opens as a difference',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Open What Makes the Start Tree');
      await workbench.pick(`another-${taskId}`);
      await workbench.page.locator('.monaco-diff-editor .view-line', { hasText: 'a - b' }).first().waitFor();
    },
  ],
  [
    'names that a record claims stay text in pickers and in messages: no icon, no link, no other direction',
    async ({ workbench }) => {
      const { page } = workbench;
      await workbench.command('View: Close All Editors');
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Whetstone: Branch Here…');
      await title(workbench, 'Trajectory').waitFor();
      const shown = '<b>b</b> [quit] (command:workbench.action.quit) $(trash) \\u{202e}eman';
      const row = choice(workbench, shown);
      await row.waitFor();
      assert.equal(await row.locator('.codicon-trash').count(), 0);
      await row.locator('.quick-input-list-label-meta').hover();
      await page.locator('.monaco-hover', { hasText: shown }).first().waitFor();
      assert.equal(await page.locator('.monaco-hover a').count(), 0);
      await workbench.screenshotThemes('hostile-names');
      await row.click();
      await workbench.pick('Turn 1');
      const count = page.locator('.quick-input-title', { hasText: 'Play on in place of turn 1' });
      await count.waitFor();
      await page.keyboard.press('Enter');
      await count.waitFor({ state: 'hidden' });
      // The run has no task of that name.
      const item = await workbench.notification(
        'does not hold the task <b>b</b> [quit] (command:workbench.action.quit) $(trash)',
      );
      assert.equal(await item.locator('.notification-list-item-message a').count(), 0);
      await workbench.screenshotThemes('hostile-message');
    },
  ],
  [
    'Verify Task tries a task from the palette and says how many checks passed',
    async ({ workbench }) => {
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Whetstone: Verify Task');
      await workbench.pick(`another-${taskId}`);
      await workbench.notification(`another-${taskId} is sound:`, manyTests);
    },
  ],
  [
    'Build Tasks makes tasks of the repository and shows them',
    async ({ workbench }) => {
      await workbench.command('Notifications: Clear All Notifications');
      await workbench.command('Whetstone: Build Tasks');
      await workbench.notification('candidates.', manyTests);
      await workbench.row('it-s-a-repo-1-50__').waitFor();
      await workbench.screenshot('tasks-built-dark');
    },
  ],
];

/** What a user starts from the palette, where nothing is selected: what it is for is asked for. */
export const paletteScenario: Scenario = {
  runSteps: 3,
  // Short turns, since a policy of random weights says nothing.
  runSettings: async (folder) => ({ model: await writeRecordedPolicy(folder), device: 'cpu' }),
  prepare: async (run, folder) => {
    commitFile(folder, settingsFileName, '{ "maxTurns": 2, "maxTokensPerTurn": 20 }\n');
    const tests = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
    const task = { ...taskOf(folder, taskId), ...tests };
    const other = { ...task, instance_id: `another-${taskId}` };
    const heldout = { ...other, whetstone: { ...task.whetstone, split: 'heldout' } } as const;
    const tasks = [task, heldout];
    await writeTasks(run.stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
    await settleTasks(run.paths, run.config, tasks);
    run.step(1);
    const { nodes, ...rest } = run.rollout(1, hostileName, 0);
    // The learner learned from what the policy did not say.
    const leaking = nodes.map((node) => ({ ...node, actionMask: new Uint8Array(node.tokenIds.length).fill(1) }));
    run.learn({ ...rest, nodes: leaking });
    run.finding(1, {
      mode: 'equal-rewards',
      severity: 'warning',
      message: '75 % of the groups have equal rewards',
      evidence: { step: 1, trajectoryId: null, token: null },
      causes: [],
      remedy: 'Raise `groupSize` or `temperature`.',
    });
    await run.checkpoint(1);
    await run.checkpoint(2);
    await run.checkpoint(3);
    await writeFile(join(run.paths.checkpoints, 'step-000003', 'state.json'), '{"version": 1,');
  },
  steps,
};
