import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunReader } from '../run/runReader.js';
import type { RunEvent } from '../run/runRecord.js';
import { parseSettings, type SettingsInput } from '../run/settings.js';
import { createTinyWorld, type TinyWorld } from '../tinyRun.testing.js';
import { BackgroundRuns, digest, finalWeights, findings, happened } from './backgroundRuns.testing.js';

let world: TinyWorld;
let runs: BackgroundRuns;
beforeAll(async () => {
  world = await createTinyWorld();
  runs = new BackgroundRuns(world);
}, 120_000);
afterEach(() => runs.stopAll(), 60_000);
afterAll(() => rmSync(world.root, { recursive: true, force: true }));

const settingsOf = (more: SettingsInput) =>
  parseSettings({ ...world.settings, warmStartEpochs: 0, warmStartNegativeWeight: 0, ...more });

type Moment = (event: RunEvent) => boolean;
const playing =
  (step: number): Moment =>
  (event) =>
    event.type === 'progress' && event.message.startsWith(`Step ${step} `) && event.done >= 1;
const learned =
  (step: number): Moment =>
  (event) =>
    event.type === 'step' && event.step === step;

/** The step that a rollout belongs to, and the updates behind the weights that played it: every pair that there is, in order. */
async function whoPlayed(run: RunReader): Promise<number[][]> {
  const pairs = new Map<string, number[]>();
  for (const { id, kind } of await run.headers()) {
    if (kind !== 'rollout') continue;
    const { step, policyStep } = await run.trajectory(id);
    pairs.set(`${step} ${policyStep}`, [step, policyStep]);
  }
  return [...pairs.values()].sort(([a], [b]) => a - b);
}

/** The same as one that was left alone, though it went on at each moment after a kill, or after a stop at every third. */
async function expectSameEnd(settings: ReturnType<typeof settingsOf>, undivided: RunReader, moments: Moment[]) {
  let started = await runs.start({ settings });
  let ends = 0;
  for (const [index, moment] of moments.entries()) {
    if (!(await happened(started, moment))) break;
    if (index % 3 === 2) {
      started.handle.stop();
      if ((await started.handle.exited).status !== 'stopped') break;
    } else if (!(await runs.kill(started.handle))) break;
    ends++;
    started = await runs.start({ settings, resume: started.handle.runId });
  }
  const end = await started.handle.exited;
  expect(end, end.message).toMatchObject({ status: 'completed' });
  expect(ends).toBeGreaterThanOrEqual(moments.length - 2);
  expect(await finalWeights(started.run, settings)).toEqual(await finalWeights(undivided, settings));
  expect(await findings(started.run)).toEqual(await findings(undivided));
  expect(await whoPlayed(started.run)).toEqual(await whoPlayed(undivided));
  // Nothing had to be played by other weights than planned.
  expect((await started.run.events()).filter(({ type }) => type === 'notice')).toEqual([]);
  expect(readdirSync(path.join(world.stateFolder, 'worktrees'))).toEqual([]);
}

describe('a training whose rollouts are played ahead', () => {
  it('plays with weights as old as it may, and ends with the same ones when it is killed or stopped, and resumed', async () => {
    const settings = settingsOf({
      stages: [
        { method: 'rejection-sampling', steps: 2 },
        { method: 'dpo', steps: 1, recorded: true, learningRate: 1e-4 },
        { method: 'policy-gradient', steps: 4 },
      ],
      steps: 7,
      memory: { lessons: 1, writer: 'policy' },
      asynchrony: { maxStaleness: 1 },
    });
    const { handle, run } = await runs.start({ settings });
    expect(await handle.exited).toMatchObject({ status: 'completed' });
    // Each stage begins with its own weights, and goes on with those of one update before.
    expect(await whoPlayed(run)).toEqual([
      [1, 0],
      [2, 0],
      [4, 3],
      [5, 3],
      [6, 4],
      [7, 5],
    ]);
    const plans = (await run.plans()).filter(({ round }) => round === 0);
    expect(plans.flatMap(({ step, policyStep }) => (policyStep === undefined ? [] : [[step, policyStep]]))).toEqual([
      [2, 0],
      [5, 3],
      [6, 4],
      [7, 5],
    ]);
    // Steps were begun while the one before was learned from; where that taught nothing, it may be over before.
    const events = await run.events();
    const at = (fits: Moment) => events.findIndex(fits);
    const begun =
      (step: number): Moment =>
      (event) =>
        event.type === 'plan' && event.step === step;
    expect([2, 5, 6, 7].some((step) => at(begun(step)) < at(learned(step - 1)))).toBe(true);
    for (const { metrics } of await run.steps()) {
      expect(metrics['timing/wait']).toBeLessThanOrEqual(metrics.step_time);
      expect(metrics['timing/overlap']).toBeLessThanOrEqual(metrics['timing/rollout']);
    }
    const moments: Moment[] = [
      playing(2),
      learned(1),
      (event) => event.type === 'checkpoint' && event.step === 3,
      playing(5),
      playing(6),
      learned(5),
      playing(7),
    ];
    await expectSameEnd(settings, run, moments);
  }, 600_000);

  it('does so two steps ahead too, and with an adapter', async () => {
    const settings = settingsOf({
      stages: [{ method: 'policy-gradient', steps: 5 }],
      steps: 5,
      lora: { rank: 4, alpha: 8 },
      evaluationTasks: 0,
      asynchrony: { maxStaleness: 2 },
    });
    const { handle, run } = await runs.start({ settings });
    expect(await handle.exited).toMatchObject({ status: 'completed' });
    expect(await whoPlayed(run)).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 1],
      [5, 2],
    ]);
    const adapter = async (of: RunReader) => {
      const folder = (await of.events()).findLast((event) => event.type === 'checkpoint')!.folder;
      return ['adapter_model.safetensors', 'optimizer.safetensors'].map((name) => digest(path.join(folder, name)));
    };
    const again = await runs.start({ settings });
    await happened(again, playing(4));
    await runs.kill(again.handle);
    const resumed = await runs.start({ settings, resume: again.handle.runId });
    expect(await resumed.handle.exited).toMatchObject({ status: 'completed' });
    expect(await adapter(resumed.run)).toEqual(await adapter(run));
    expect(await findings(resumed.run)).toEqual(await findings(run));
    const ages = (await run.steps()).map(({ metrics }) => metrics['sampling/staleness/max'] ?? 0);
    expect(Math.max(...ages)).toBeGreaterThanOrEqual(2);
  }, 300_000);
});
