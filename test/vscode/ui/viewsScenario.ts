import { hostileText } from '../fixtures/recordedRun.js';
import type { Scenario } from './playScenario.js';

const leakingToken = 61;

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
        evidence: { step: 1, trajectoryId: 'step-000001/sum-adds__comparison-flip__sum.js_4/0', token: leakingToken },
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
      await workbench.row('Seen first: step 1, trajectory').locator('.label-name').click();
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.statusItem('selected', 'status.editor.selection').waitFor();
      await workbench.screenshot('doctor-evidence-dark');
    },
  ],
];

/** The views beside the runs: what a user looks at while and after a training. */
export const viewsScenario: Scenario = {
  prepare: (run) => {
    run.evaluate(0);
    run.step(1);
  },
  steps,
};
