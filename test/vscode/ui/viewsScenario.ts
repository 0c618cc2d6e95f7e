import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message } from '../../../src/trajectory/message.js';
import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { runsFolder } from '../../../src/trainer/run/runDirectory.js';
import { assistant, hostileText, RecordedRun } from '../fixtures/recordedRun.js';
import { taskOf } from '../fixtures/workspace.js';
import type { Scenario } from './playScenario.js';

const leakingToken = 61;
const taskId = 'sum-adds__comparison-flip__sum.js_4';

const steps: Scenario['steps'] = [
  [
    'the doctor tells what it found while training goes on, and leads to the token',
    async ({ workbench, run }) => {
      await workbench.showRuns();
      await workbench.row('nothing found so far').waitFor();
      run.finding(1, {
        mode: 'mask-leak',
        severity: 'critical',
        message: `2 observation tokens are trained on ${hostileText}`,
        evidence: { step: 1, trajectoryId: `step-000001/${taskId}/0`, token: leakingToken },
        causes: ['The chat template puts the observation into the turn.'],
        remedy: 'Do not use this run: start a new one.',
      });
      run.finding(1, {
        mode: 'equal-rewards',
        severity: 'warning',
        message: '75 % of the groups have equal rewards',
        evidence: { step: 1, trajectoryId: null, token: null },
        causes: [],
        remedy: 'Raise `groupSize` or `temperature`.',
      });
      await workbench.row('1 critical, 1 warning').waitFor();
      await workbench.unfold('mask-leak');
      await workbench.unfold('equal-rewards');
      await workbench.row('Seen first: step 1, trajectory').waitFor();
      await workbench.screenshotThemes('doctor');
      await workbench.clickRow('Seen first: step 1, trajectory');
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.statusItem('selected', 'status.editor.selection').waitFor();
      await workbench.screenshot('doctor-evidence-dark');
    },
  ],
  [
    'a task shows its tests, opens its statement and its oracle as a difference, and tasks can be filtered',
    async ({ workbench }) => {
      await workbench.command('View: Close All Editors');
      await workbench.unfold('arithmetic-swap · train · solved 2 of 3 (67 %)');
      await workbench.unfold('FAIL_TO_PASS');
      await workbench.row('sum adds').waitFor();
      await workbench.clickRow('Oracle');
      await workbench.page.locator('.monaco-diff-editor .view-line', { hasText: 'a + b' }).first().waitFor();
      await workbench.screenshotThemes('tasks');
      await workbench.clickRow('Statement');
      await workbench.page.locator('.view-line', { hasText: 'mend the code' }).first().waitFor();
      await workbench.command('Whetstone: Filter Tasks');
      await workbench.pick('heldout');
      await workbench.screenshot('tasks-filter-dark');
      await workbench.page.keyboard.press('Enter');
      await workbench.page.locator('.pane-body', { hasText: '1 of 2 tasks: split heldout' }).first().waitFor();
      await workbench.row('not tried').waitFor();
      await workbench.command('Whetstone: Show All Tasks');
      await workbench.row('solved 2 of 3').waitFor();
    },
  ],
  [
    'the dashboard draws the metrics, lays runs over one another, marks findings and lists the trajectories of a point',
    async ({ workbench, run, folder }) => {
      await workbench.command('View: Close All Editors');
      const other = await RecordedRun.create(folder, 'run-2', 40);
      other.evaluate(0);
      for (let step = 1; step <= 40; step++) other.measure(step, metricsOf(step, 3));
      await other.end('completed');
      await workbench.command('Whetstone: Show Dashboard');
      const page = workbench.webview();
      await page.locator('figcaption', { hasText: /^reward / }).waitFor();
      await page.locator('label', { hasText: 'running' }).locator('input').check();
      await page.locator('.findings', { hasText: 'mask-leak (critical)' }).waitFor();
      await page.locator('#smoothing').fill('0.7');
      await workbench.screenshotThemes('dashboard');
      await page.locator('label', { hasText: 'completed' }).locator('input').uncheck();
      await page.locator('#axis').selectOption('minutes');
      await page.locator('#axis').selectOption('steps');
      const chart = page.locator('figure', { hasText: 'success of evaluations' }).locator('.frame');
      await chart.focus();
      await workbench.page.keyboard.press('ArrowRight');
      await workbench.page.keyboard.press('Enter');
      await page.locator('.side', { hasText: 'Evaluation after step 0' }).waitFor();
      run.measure(31, metricsOf(31, 0));
      await page.locator('figcaption', { hasText: String(metricsOf(31, 0).entropy) }).waitFor();
      await workbench.screenshot('dashboard-point-dark');
      await page.locator('.side button', { hasText: taskId }).click();
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
    },
  ],
  [
    'the reward debugger explains a reward, shows the prediction beside the oracle, and grades again',
    async ({ workbench }) => {
      await workbench.command('View: Close All Editors');
      await workbench.unfold('running · step');
      await workbench.unfold('Step 1');
      await workbench.unfold(taskId + '1 of 2 solved');
      await workbench.clickRow('Rollout 2');
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.command('Whetstone: Explain Reward');
      const page = workbench.webview();
      await page.locator('td', { hasText: 'tests' }).first().waitFor();
      await page.locator('button', { hasText: 'Grade Again' }).click();
      await page.locator('p', { hasText: 'Graded again: reward' }).waitFor();
      await page.locator('td button', { hasText: 'sum.js' }).click();
      await page.locator('.sides .common').first().waitFor();
      await workbench.screenshotThemes('reward');
      await page.locator('button', { hasText: 'Predicted beside Oracle' }).click();
      await workbench.page.locator('.monaco-diff-editor .view-line', { hasText: 'a * b' }).first().waitFor();
      await workbench.screenshot('reward-compare-dark');
    },
  ],
  [
    'a picture of a group draws what its rollouts share once, and leads to the trajectory and to the source',
    async ({ workbench, run }) => {
      await workbench.command('View: Close All Editors');
      const look = turn('Let me look.', 'open', { path: 'sum.js' }, hostileText);
      const edit = (text: string) => turn(text, 'edit', { path: 'sum.js' }, 'edited');
      const submit = turn('Done.', 'submit', {}, 'Submitted.');
      const group = [
        [look, edit('A plus is wanted.'), submit],
        [look, edit('A star is wanted.'), submit],
        [look, submit],
        [turn('I run the tests.', 'run_tests', {}, '1 failed'), submit],
      ].map((turns, sample) => run.rollout(32, taskId, sample, turns.flat()));
      const trajectoryIds = group.map(({ id }) => id);
      run.measure(32, metricsOf(32, 0), [{ taskId, trajectoryIds, advantages: [1.5, -0.2, -0.4, -0.9] }]);
      await workbench.unfold('running · step');
      await workbench.unfold('Step 32');
      await workbench.row(`${taskId}1 of 4 solved`).hover();
      await workbench.row(`${taskId}1 of 4 solved`).locator('[aria-label="Show Rollouts as a Tree"]').click();
      const page = workbench.webview();
      const nodes = page.locator('.node');
      await nodes.first().waitFor();
      assert.equal(await nodes.count(), 22);
      await nodes.first().focus();
      for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight']) await workbench.page.keyboard.press(key);
      await page.locator('.details h2', { hasText: 'observation: open' }).waitFor();
      await workbench.screenshotThemes('picture');
      await page.locator('button', { hasText: 'Mark Touched Lines' }).click();
      await workbench.waitFor(touched);
      await page.locator('.node.selected').press('Enter');
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · observation' }).first().waitFor();
      await workbench.screenshot('picture-and-source-dark');
      await workbench.command('Whetstone: Hide Marks of Touched Lines');
      await workbench.waitFor(`!${touched}`);
      await workbench.command('Whetstone: Mark Lines That Rollouts Touched');
      await workbench.waitFor(touched);
    },
  ],
  [
    'names of any length are cut in the picture and in the reward debugger, and hovering shows more of them',
    async ({ workbench, run }) => {
      const long = 'long'.repeat(1000);
      const shown = new RegExp(`^${long.slice(0, 200)}…`);
      run.rollout(33, long, 0, turn('Let me look.', 'open', { path: long }, 'There is no such file.'));
      await workbench.command('View: Close All Editors');
      // What lies below the view's edge is no row.
      await workbench.row('Step 1').locator('.monaco-tl-twistie').click();
      await workbench.unfold('Step 33');
      await workbench.row('longlong').hover();
      await workbench.row('longlong').locator('[aria-label="Show Rollouts as a Tree"]').click();
      const page = workbench.webview();
      await page.locator(`h1[title^="${long.slice(0, 900)}"]`, { hasText: shown }).waitFor();
      await page.locator('.node').first().focus();
      for (const key of ['ArrowRight', 'ArrowRight']) await workbench.page.keyboard.press(key);
      const open = page.locator(`button[title^="${long.slice(0, 900)}"]`, { hasText: 'in the Source' });
      await open.waitFor();
      assert.ok((await open.innerText()).length < 250);
      await workbench.screenshotThemes('long-names-picture');
      await page.locator('button', { hasText: 'Explain Reward' }).click();
      await page.locator(`h1 span[title^="${long.slice(0, 900)}"]`, { hasText: shown }).waitFor();
      await workbench.screenshotThemes('long-names-reward');
    },
  ],
  [
    'the runs show only the trajectories that fit a filter, and say so',
    async ({ workbench }) => {
      await workbench.command('View: Close All Editors');
      await workbench.unfold('running · step');
      await workbench.command('Whetstone: Filter Trajectories');
      await workbench.pick('equal-rewards');
      await workbench.pick('failedOutcome');
      await workbench.page.keyboard.press('Enter');
      await workbench.page
        .locator('.pane-body', { hasText: 'Shown: outcome failed; finding equal-rewards' })
        .first()
        .waitFor();
      await workbench.row('0 of 2 solved').waitFor();
      await workbench.row('Evaluation before training').waitFor({ state: 'detached' });
      await workbench.screenshotThemes('runs-filtered');
      await workbench.command('Whetstone: Show All Trajectories');
      await workbench.row('Evaluation before training').waitFor();
    },
  ],
  [
    'a run whose trajectories are broken hides neither what tasks came to in the others nor their filter, and says so when opened',
    async ({ workbench, run }) => {
      await workbench.row('solved 4 of 8').waitFor();
      await appendFile(join(runsFolder(run.stateFolder), 'run-2', 'trajectories.jsonl'), '{"id":\n');
      await workbench.row('solved 3 of 7').waitFor();
      await workbench.command('Whetstone: Filter Trajectories');
      const outcome = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'failedOutcome' });
      await outcome.first().waitFor();
      await workbench.screenshotThemes('filter-beside-broken');
      await workbench.page.keyboard.press('Escape');
      await workbench.row('completed · step 40 of 40').locator('.monaco-tl-twistie').click();
      const message = await workbench.notification('is broken (');
      await message.locator('.codicon-notifications-expand').click();
      await workbench.notification('restore it or delete the run.');
      await workbench.screenshotThemes('broken-run');
    },
  ],
];

/** Evaluated in the page; the text of a decoration is no part of the document. */
const touched =
  "[...document.querySelectorAll('.view-line span')].some((span) => getComputedStyle(span, '::after').content.includes('touched by 4 rollouts, mean advantage'))";

/** A call of a tool and its answer. */
function turn(text: string, tool: string, parameters: Readonly<Record<string, string>>, answer: string): Message[] {
  return [assistant(text, tool, parameters), { role: 'tool', toolCallId: `call-${tool}`, name: tool, content: answer }];
}

/** Figures that look like those of a training. */
function metricsOf(step: number, shift: number): Record<string, number> {
  const noise = Math.sin(step * 12.9898 + shift) / 12;
  const learned = 1 - Math.exp(-step / (12 + shift));
  const rounded = (value: number) => Number(value.toFixed(4));
  return {
    reward: rounded(0.3 + 0.8 * learned + noise),
    success: rounded(Math.max(0, 0.1 + 0.7 * learned + noise)),
    reward_std: rounded(0.5 - 0.2 * learned - noise / 2),
    entropy: rounded(0.6 - 0.3 * learned + noise / 3),
    kl: rounded(0.002 * step + Math.abs(noise) / 50),
    'clip_ratio/region_mean': rounded(0.02 + Math.abs(noise) / 10),
    'completions/mean_length': rounded(180 - 60 * learned + 40 * noise),
    'tools/call_frequency': rounded(3 + noise),
    loss: rounded(noise / 5),
    'rewards/tests/mean': rounded(0.1 + 0.7 * learned + noise),
    'rewards/format/mean': 1,
  };
}

const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };

/** The views beside the runs: what a user looks at while and after a training. */
export const viewsScenario: Scenario = {
  runSteps: 40,
  prepare: async (run, folder) => {
    const heldout = taskOf(folder, `heldout-${taskId}`);
    const tasks = [
      taskOf(folder, taskId),
      { ...heldout, whetstone: { ...heldout.whetstone, split: 'heldout' } } as const,
    ];
    await writeTasks(run.stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
    run.evaluate(0);
    run.step(1);
    for (let step = 2; step <= 30; step++) run.measure(step, metricsOf(step, 0));
  },
  steps,
};
