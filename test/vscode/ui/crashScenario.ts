import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readProcessRecord } from '../../../src/trainer/background/processRecord.js';
import { runsFolder } from '../../../src/trainer/run/runDirectory.js';
import { openRun } from '../../../src/trainer/run/runReader.js';
import { settingsFileName } from '../../../src/trainer/run/settings.js';
import { writeTinyPolicy } from '../../../src/trainer/tinyPolicy.testing.js';
import { tinySettings } from '../fixtures/tinySettings.js';
import { commitFile } from '../fixtures/workspace.js';
import type { Scenario } from './playScenario.js';

/** Building the tasks runs tests many times; in milliseconds. */
const manyTests = 220_000;
/** Enough that the training is seen to go on: on a machine with nothing else to do a step takes a third of a second. */
const trainedSteps = 30;

/** The run that the window started, beside the recorded one. */
function startedRun(stateFolder: string) {
  const [id] = readdirSync(runsFolder(stateFolder)).filter((name) => name !== 'run-1');
  return openRun(stateFolder, id);
}

const steps: Scenario['steps'] = [
  [
    'a training takes steps and keeps the last ones as checkpoints',
    async ({ workbench, run }) => {
      await run.end('stopped');
      await workbench.showRuns();
      await workbench.row('stopped · step 1 of 3').waitFor();
      await workbench.command('Whetstone: Train on This Repo');
      // By the second step the first one's checkpoint is whole.
      await workbench.row(/running · step ([2-9]|\d\d) of 30/).waitFor({ timeout: manyTests });
      await workbench.statusItem('training · step').waitFor();
    },
  ],
  [
    'whose process is killed, the Runs view calls it interrupted, the status bar says no more, and a message offers to resume',
    async ({ workbench, folder }) => {
      const started = startedRun(join(folder, '.whetstone'));
      const record = await readProcessRecord(started.paths.folder);
      assert.ok(record !== null);
      process.kill(record.pid, 'SIGKILL');
      await workbench.row(/interrupted · step \d+ of 30/).waitFor();
      await workbench.statusItem().waitFor({ state: 'hidden' });
      const message = await workbench.notification('interrupted.');
      await message.locator('a', { hasText: 'Resume' }).waitFor();
      await workbench.screenshotThemes('interrupted');
      await workbench.command('Notifications: Clear All Notifications');
    },
  ],
  [
    'Resume Training goes on with it where its last checkpoint stands',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Resume Training');
      // The recorded run, which was stopped, could go on too.
      await workbench.pick('interrupted');
      await workbench.row(/running · step \d+ of 30/).waitFor();
      await workbench.statusItem().waitFor();
      await workbench.row('interrupted').waitFor({ state: 'detached' });
    },
  ],
  [
    'it trains to its end, every step once, and says so',
    async ({ workbench, folder }) => {
      await workbench.row('completed · step 30 of 30').waitFor({ timeout: manyTests });
      await workbench.notification('completed.');
      await workbench.statusItem().waitFor({ state: 'hidden' });
      await workbench.screenshot('resumed-dark');
      const started = startedRun(join(folder, '.whetstone'));
      const events = await started.events();
      const starts = events.flatMap((event) => (event.type === 'started' ? [event.resumedFromStep] : []));
      assert.equal(starts.length, 2);
      assert.equal(starts[0], null);
      assert.ok(Number(starts[1]) >= 1 && Number(starts[1]) < trainedSteps, `resumed from step ${starts[1]}`);
      assert.deepEqual(
        (await started.steps()).map(({ step }) => step),
        Array.from({ length: trainedSteps }, (_, step) => step + 1),
      );
      assert.equal((await started.evaluations()).filter(({ step }) => step === 0).length, 1);
      // Nothing that the killed process held is left.
      assert.equal(await readProcessRecord(started.paths.folder), null);
      assert.deepEqual(readdirSync(join(folder, '.whetstone', 'worktrees')), []);
    },
  ],
];

/** A training whose process dies, and which the user goes on with from the editor. */
export const crashScenario: Scenario = {
  runSteps: 3,
  settings: async (folder) => ({ ...tinySettings(await writeTinyPolicy(folder)), 'whetstone.steps': trainedSteps }),
  prepare: (run, folder) => {
    const fast = { checkpointEvery: 1, maxTurns: 2, maxTokensPerTurn: 20, warmStartEpochs: 0 };
    commitFile(folder, settingsFileName, `${JSON.stringify(fast)}\n`);
    run.step(1);
  },
  steps,
};
