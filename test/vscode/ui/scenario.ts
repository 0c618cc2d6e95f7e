import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from './playScenario.js';

const task = 'sum-adds__comparison-flip__sum.js_4';

/** Evaluated in the page. */
const dottedTokens =
  "[...document.querySelectorAll('.view-line span')].some((span) => getComputedStyle(span).textDecoration.includes('dotted'))";

/** What a user does, in order; every step goes on from where the one before left the window. */
const steps: Scenario['steps'] = [
  [
    'the Runs view shows the training and unfolds to its rollouts',
    async ({ workbench }) => {
      await workbench.showRuns();
      await workbench.unfold('step 1 of 3');
      await workbench.unfold('Step 1');
      await workbench.unfold(task);
      await workbench.row('Rollout 2').waitFor();
    },
  ],
  [
    'the tree fills while training goes on, and stays unfolded',
    async ({ workbench, run }) => {
      run.step(2);
      await workbench.row('Step 2').waitFor();
      await workbench.row('Rollout 2').waitFor();
      await workbench.statusItem('step 2 of 3').waitFor();
      await workbench.screenshot('tree-while-training-dark');
    },
  ],
  [
    'a reloaded window finds the training again',
    async ({ workbench }) => {
      await workbench.reload();
      await workbench.statusItem('training · step 2 of 3').waitFor();
      // A reloaded workbench starts with some dark theme; a change makes it look at its settings again.
      await workbench.theme('light');
      await workbench.theme('dark');
    },
  ],
  [
    'the palette offers what can be done now',
    async ({ workbench }) => {
      // Only the rows in sight exist: the palette has more commands of ours than it has room for.
      const offered = () => workbench.page.locator('.quick-input-list .monaco-list-row').allInnerTexts();
      await workbench.palette('Whetstone: Train', 'Train on This Repo');
      assert.ok((await offered()).some((text) => text.includes('Stop Training')));
      await workbench.screenshot('palette-dark');
      await workbench.page.keyboard.press('Escape');
      await workbench.palette('Whetstone: ', 'Build Tasks');
      assert.ok(!(await offered()).some((text) => text.includes('Choose Token Colours')), 'no trajectory is open');
      await workbench.page.keyboard.press('Escape');
    },
  ],
  [
    'a rollout opens with its tokens told apart, and a hover tells one token',
    async ({ workbench }) => {
      await workbench.unfold('step 2 of 3');
      await workbench.unfold('Step 1');
      await workbench.unfold(task);
      await workbench.row('Rollout 1').locator('.monaco-icon-name-container, .label-name').first().click();
      const { page } = workbench;
      const token = page.locator('.view-line span', { hasText: /^Let/ }).first();
      await token.waitFor();
      await page.locator('.codelens-decoration', { hasText: 'Replay to here' }).first().waitFor();
      await token.hover({ position: { x: 10, y: 8 } });
      await page.locator('.monaco-hover-content', { hasText: 'log-prob' }).first().waitFor();
      await workbench.screenshot('trajectory-hover-dark');
      const backgrounds = await page
        .locator('.view-line span')
        .evaluateAll((spans) => new Set(spans.map((span) => span.className.replace(/\bmtk\d+\b/g, '').trim())).size);
      assert.ok(backgrounds >= 4, 'header lines, prompt, agent and observation look different');
    },
  ],
  [
    'the colours of tokens can be chosen',
    async ({ workbench }) => {
      await workbench.page.keyboard.press('Escape');
      await workbench.command('Whetstone: Choose Token Colours');
      await workbench.pick('log-prob');
      // Unlikely tokens have a dotted line under them, so that the colour is not all that tells.
      await workbench.waitFor(dottedTokens);
      await workbench.screenshot('trajectory-log-prob-dark');
    },
  ],
  [
    'light and high-contrast themes are readable too',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Choose Token Colours');
      await workbench.pick('mask');
      await workbench.waitFor(`!${dottedTokens}`);
      await workbench.theme('light');
      await workbench.screenshot('trajectory-light');
      await workbench.theme('high contrast');
      await workbench.screenshot('trajectory-high-contrast');
      await workbench.theme('dark');
    },
  ],
  [
    'a turn is replayed from its lens, and shows where it differs from the record',
    async ({ workbench }) => {
      await workbench.page.locator('.codelens-decoration a', { hasText: 'Replay to here' }).last().click();
      await workbench.page.locator('.codelens-decoration a', { hasText: 'Compare with the record' }).first().waitFor();
      await workbench.screenshot('replay-dark');
      await workbench.page.locator('.codelens-decoration a', { hasText: 'Compare with the record' }).first().click();
      await workbench.page.locator('.monaco-diff-editor').first().waitFor();
      await workbench.screenshot('replay-difference-dark');
    },
  ],
  [
    'the training can be stopped from the palette',
    async ({ workbench, run }) => {
      await workbench.command('Whetstone: Stop Training');
      while (run.wishes.stop === 0) await sleep(50);
      await run.end('stopped');
      await workbench.row('stopped').waitFor();
      await workbench.statusItem().waitFor({ state: 'hidden' });
    },
  ],
  [
    'Train on This Repo trains for real; its progress survives a reload, and so does the stop',
    async ({ workbench }) => {
      await workbench.command('Whetstone: Train on This Repo');
      await workbench.row('running').waitFor();
      await workbench.statusItem().waitFor();
      await workbench.command('Notifications: Show Notifications');
      await workbench.page.locator('.notification-list-item', { hasText: 'Training on' }).first().waitFor();
      await workbench.screenshot('training-dark');
      await workbench.reload();
      await workbench.statusItem().waitFor();
      await workbench.unfold('running');
      await workbench.unfold('Evaluation before training');
      // The task's row: that of the evaluation says 'of 1 solved so far' while it goes on.
      await workbench.unfold('of 1 solved ·');
      await workbench.row('Episode 1').locator('.label-name').first().click();
      await workbench.page.locator('.view-line', { hasText: 'turn 1 · agent' }).first().waitFor();
      await workbench.screenshot('first-episode-dark');
      await workbench.command('Whetstone: Stop Training');
      await workbench.row('running').waitFor({ state: 'detached' });
      await workbench.statusItem().waitFor({ state: 'hidden' });
    },
  ],
  // The palette offers what was used last first: behind the command that it begins like.
  [
    'Train on This Repo With… says what each model, adapter and device would take',
    async ({ workbench }) => {
      const { page } = workbench;
      const choice = (text: string) => page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
      await workbench.command('Whetstone: Train on This Repo With…');
      await page.locator('.quick-input-title', { hasText: 'Model of the training on' }).waitFor();
      await choice('million parameters').filter({ hasText: 'On cpu: about' }).waitFor();
      await workbench.screenshotThemes('train-with-model');
      await choice('embedded').click();
      await page.locator('.quick-input-title', { hasText: 'What the training changes' }).waitFor();
      await choice('All parameters').filter({ hasText: 'On cpu: about' }).waitFor();
      await choice('An adapter of rank 8').filter({ hasText: 'million trained · alpha 32 · q_proj' }).waitFor();
      await workbench.screenshot('train-with-adapter-dark');
      await choice('An adapter with other settings').click();
      await page.locator('.quick-input-title', { hasText: 'Rank of the adapter' }).waitFor();
      await page.keyboard.type('0');
      await page.locator('.quick-input-message', { hasText: 'Give a whole number from 1 to 1024' }).waitFor();
      await page.keyboard.press('Backspace');
      await page.keyboard.type('4');
      await page.keyboard.press('Enter');
      await page.locator('.quick-input-title', { hasText: 'Alpha of the adapter' }).waitFor();
      await page.keyboard.press('Enter');
      await page.locator('.quick-input-title', { hasText: 'Projections that the adapter changes' }).waitFor();
      await choice('up_proj').click();
      await page.keyboard.press('Enter');
      await page.locator('.quick-input-title', { hasText: 'Device of the training' }).waitFor();
      await choice('of memory · a step about').waitFor();
      await choice('About these figures').filter({ hasText: 'the speed that was just measured' }).waitFor();
      await workbench.screenshot('train-with-device-dark');
      await page.keyboard.press('Escape');
      await page.locator('.quick-input-title', { hasText: 'Device of the training' }).waitFor({ state: 'hidden' });
    },
  ],
];

/** Training as a user sees it, from the run in the tree to the token and the replay. */
export const trainingScenario: Scenario = {
  runSteps: 3,
  prepare: (run) => {
    run.evaluate(0);
    run.step(1);
  },
  steps,
};
