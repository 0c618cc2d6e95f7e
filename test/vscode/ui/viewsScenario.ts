import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { hostileText } from '../fixtures/recordedRun.js';
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
];

const funnel = { found: 2, skipped: {}, invalid: {}, flaky: 0, kept: 2, sources: {} };

/** The views beside the runs: what a user looks at while and after a training. */
export const viewsScenario: Scenario = {
  prepare: async (run, folder) => {
    const heldout = taskOf(folder, `heldout-${taskId}`);
    const tasks = [
      taskOf(folder, taskId),
      { ...heldout, whetstone: { ...heldout.whetstone, split: 'heldout' } } as const,
    ];
    await writeTasks(run.stateFolder, 'key', { tasks, funnel, quarantined: [], notes: [] });
    run.evaluate(0);
    run.step(1);
  },
  steps,
};
