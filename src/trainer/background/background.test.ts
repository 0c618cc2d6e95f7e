import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { examineRun } from '../doctor/doctor.js';
import { samplerLogprobs } from '../rollout/nodes.js';
import { latestCheckpoint } from '../run/checkpoints.js';
import { listRuns, type RunReader } from '../run/runReader.js';
import type { RunEvent } from '../run/runRecord.js';
import { runConfigSchema } from '../run/runSchemas.js';
import { parseSettings } from '../run/settings.js';
import { createTinyWorld, type TinyWorld } from '../tinyRun.testing.js';
import {
  BackgroundRuns,
  digest,
  finalWeights as finalWeightsOf,
  findings,
  happened,
} from './backgroundRuns.testing.js';
import { connectToRun, startTraining, type TrainingHandle } from './client.js';

/** Mounting a small file system takes the superuser, and not every container lets it. */
const mount = (...argv: string[]) => execFileSync(argv[0], argv.slice(1), { stdio: 'pipe' });
function tryMount(): boolean {
  if (process.platform !== 'linux') return false;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'whetstone-mount-'));
  try {
    mount('mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder);
    mount('umount', folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
const canMount = tryMount();

const backgroundPath = path.resolve('dist/background.cjs');
let world: TinyWorld;
let runs: BackgroundRuns;
beforeAll(async () => {
  world = await createTinyWorld();
  runs = new BackgroundRuns(world);
}, 120_000);
afterEach(() => runs.stopAll(), 60_000);
afterAll(() => rmSync(world.root, { recursive: true, force: true }));

const start: BackgroundRuns['start'] = (more) => runs.start(more);
const kill = (handle: TrainingHandle) => runs.kill(handle);
const finalWeights = (run: RunReader, settings = world.settings) => finalWeightsOf(run, settings);

/** What was recorded before is held against the weights that the stage began with, and not against those that had sampled it. */
async function expectOfflineReference(run: RunReader, step: number): Promise<void> {
  let [sampled, differing] = [0, 0];
  for (const { id } of await run.headers()) {
    const learned = await run.learned(id);
    if (learned?.step !== step) continue;
    // It is the stage's first step: the learner is still where it began.
    expect(learned.referenceLogprobs).toEqual(learned.learnerLogprobs);
    samplerLogprobs(await run.trajectory(id)).forEach((logprob, t) => {
      if (Number.isNaN(logprob) || Number.isNaN(learned.referenceLogprobs[t])) return;
      sampled++;
      if (Math.abs(logprob - learned.referenceLogprobs[t]) > 1e-4) differing++;
    });
  }
  expect(sampled).toBeGreaterThan(0);
  expect(differing).toBeGreaterThan(0);
}

/** Exploration has forced tools on some turns, and what it gave them has no part in the loss. */
async function expectForcedTurnsTeachNoOpening(run: RunReader): Promise<void> {
  let [forcedTokens, learnedBehind] = [0, 0];
  for (const { id, kind } of await run.headers()) {
    const [{ nodes }, learned] = [await run.trajectory(id), await run.learned(id)];
    let at = 0;
    for (const { forced = 0, actionMask, logprobs, tokenIds } of nodes) {
      expect(forced > 0 && kind === 'evaluation').toBe(false);
      forcedTokens += forced;
      expect([...actionMask.subarray(0, forced)].filter((bit) => bit !== 0)).toEqual([]);
      expect([...logprobs.subarray(0, forced)].every(Number.isNaN)).toBe(true);
      if (learned !== null && forced > 0) {
        expect([...learned.coefficients.subarray(at, at + forced)].filter((one) => one !== 0)).toEqual([]);
        expect([...learned.learnerLogprobs.subarray(at, at + forced)].every(Number.isNaN)).toBe(true);
        if (learned.coefficients.subarray(at + forced, at + tokenIds.length).some((one) => one !== 0)) learnedBehind++;
      }
      at += tokenIds.length;
    }
  }
  expect(forcedTokens).toBeGreaterThan(0);
  expect(learnedBehind).toBeGreaterThan(0);
  const shares = (await run.steps()).map(({ metrics }) => metrics['rollouts/forced_turns'] ?? 0);
  expect(Math.max(...shares)).toBeGreaterThan(0);
  expect(Math.max(...shares)).toBeLessThan(1);
}

describe('a training in the background', () => {
  let undisturbed: RunReader;

  it('trains from the first evaluation to the last, and moves the weights', async () => {
    const { handle, run } = await start();
    undisturbed = run;
    expect(await handle.exited).toEqual({
      status: 'completed',
      message: 'Training is completed.',
      errorKind: undefined,
    });
    expect((await run.summary()).step).toBe(4);
    const steps = await run.steps();
    expect(steps.map(({ step }) => step)).toEqual([1, 2, 3, 4]);
    const methods = ['rejection-sampling', 'dpo', 'policy-gradient', 'policy-gradient'];
    expect(steps.map(({ method }) => method)).toEqual(methods);
    expect(steps[1].metrics).toMatchObject({ 'updates/made': 1, 'rewards/accuracies': expect.any(Number) as number });
    await expectOfflineReference(run, 2);
    // What was chosen and why is told before it is played.
    const plans = (await run.events()).filter((event) => event.type === 'plan');
    expect(plans.map(({ step, round, maxTurns }) => [step, round, maxTurns])).toEqual(
      expect.arrayContaining([
        [1, 0, 3],
        [2, 0, 5],
        [4, 0, 5],
      ]),
    );
    expect(plans.every(({ tasks }) => tasks.every(({ why }) => why !== ''))).toBe(true);
    // Only a group whose rewards differ is worth learning from again.
    const isVaried = steps[2].groups.some(({ advantages }) => advantages.some((advantage) => advantage !== 0));
    expect((steps[3].replayed ?? []).map(({ fromStep }) => fromStep)).toEqual(isVaried ? [3] : []);
    expect(steps.some(({ metrics }) => metrics.grad_norm > 0)).toBe(true);
    const differences = steps.map(({ metrics }) => metrics['sampling/sampling_logp_difference/max']);
    expect(Math.max(...differences.filter((difference) => difference !== undefined))).toBeLessThan(1e-3);
    expect((await run.evaluations()).map(({ step }) => step)).toEqual([0, 4]);
    const demonstrations = (await run.headers()).filter(({ kind }) => kind === 'demonstration');
    expect(demonstrations.length).toBeGreaterThan(0);
    expect(demonstrations.filter(({ resolved }) => !resolved)).toEqual([]);
    const updates = (await run.events()).filter((event) => event.type === 'warm-start');
    expect(updates.at(-1)!.metrics.loss).toBeLessThan(updates[0].metrics.loss);
    expect((await finalWeights(run)).model).not.toBe(digest(path.join(world.settings.model, 'model.safetensors')));
    // No held-out task is learned from.
    const { train, heldout } = (await run.config()).taskIds;
    const learnedFrom = (await run.headers()).filter(({ kind }) => kind !== 'evaluation');
    expect(heldout.filter((id) => train.includes(id))).toEqual([]);
    expect(learnedFrom.filter(({ taskId }) => !train.includes(taskId))).toEqual([]);
    const taught = new Set(
      steps
        .flatMap(({ groups }) => groups.filter(({ advantages }) => advantages.some((advantage) => advantage !== 0)))
        .flatMap(({ trajectoryIds }) => trajectoryIds),
    );
    for (const { id } of await run.headers()) {
      const trajectory = await run.trajectory(id);
      const tokens = trajectory.nodes.reduce((sum, node) => sum + node.tokenIds.length, 0);
      expect((await run.learned(id))?.advantages.length).toBe(taught.has(id) ? tokens : undefined);
    }
    expect(existsSync(run.paths.process)).toBe(false);
    expect(readdirSync(world.stateFolder)).not.toContain('train.lock');
  }, 180_000);

  it('ends with the same weights, bit for bit, when it is killed again and again and resumed', async () => {
    const moments: ((event: RunEvent) => boolean)[] = [
      (event) => event.type === 'started',
      (event) => event.type === 'progress' && event.stage === 'evaluate-before',
      (event) => event.type === 'progress' && event.stage === 'warm-start' && event.message.startsWith('The expert'),
      (event) => event.type === 'progress' && event.message === 'Negative examples' && event.done >= 2,
      (event) => event.type === 'warm-start' && event.update === 2,
      (event) => event.type === 'checkpoint' && event.step === 0,
      (event) => event.type === 'progress' && event.stage === 'train' && event.done >= 2,
      (event) => event.type === 'step' && event.step === 1,
      // The offline losses' step.
      (event) => event.type === 'plan' && event.step === 2,
      (event) => event.type === 'checkpoint' && event.step === 2,
      (event) => event.type === 'progress' && event.message.startsWith('Step 3'),
      // A checkpoint comes every second step and at the end of a stage: what was learned since is learned again.
      (event) => event.type === 'step' && event.step === 3,
      (event) => event.type === 'progress' && event.message.startsWith('Step 4'),
      (event) => event.type === 'progress' && event.stage === 'evaluate-after',
    ];
    let started = await start();
    let kills = 0;
    for (const moment of moments) {
      if (!(await happened(started, moment))) break;
      if (!(await kill(started.handle))) break;
      kills++;
      started = await start({ resume: started.handle.runId });
    }
    const { handle, run } = started;
    const end = await handle.exited;
    expect(kills, end.message).toBeGreaterThanOrEqual(6);
    expect(end).toMatchObject({ status: 'completed' });
    expect(await finalWeights(run)).toEqual(await finalWeights(undisturbed));
    expect(await findings(run)).toEqual(await findings(undisturbed));
    // No worktree is left of the killed ones.
    expect(readdirSync(path.join(world.stateFolder, 'worktrees'))).toEqual([]);
    // What was recorded is never played again.
    const lines = readFileSync(run.paths.trajectories, 'utf8').trimEnd().split('\n');
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(ids.length);
  }, 600_000);

  it('ends with the same weights when it is killed among the branches that leave its rollouts, and resumed', async () => {
    const settings = parseSettings({
      ...world.settings,
      // Asked to check its work, a policy that submits takes a second turn: there is something to leave.
      selfCheck: true,
      exploration: { ...world.settings.exploration, toolEpsilon: 0.2 },
      warmStartEpochs: 0,
      evaluationTasks: 0,
      stages: [{ method: 'policy-gradient', steps: 2 }],
      steps: 2,
      algorithm: { ...world.settings.algorithm, advantage: 'rloo', pivots: 2, continuations: 3, macroTurns: 1 },
    });
    const undivided = await start({ settings });
    expect(await undivided.handle.exited).toMatchObject({ status: 'completed' });
    const branches = (await undivided.run.headers()).filter(({ origin }) => origin !== undefined);
    expect(new Set(branches.map(({ step }) => step))).toEqual(new Set([1, 2]));
    await expectForcedTurnsTeachNoOpening(undivided.run);
    // The four rollouts of a step are told of together, and then what leaves them, which comes in threes.
    const playedOf = (step: number, isBranch: boolean, count: number) => (event: RunEvent) =>
      event.type === 'progress' &&
      event.message.startsWith(`Step ${step} `) &&
      (event.total % 3 === 0) === isBranch &&
      event.done >= count;
    const moments = [
      playedOf(1, false, 2),
      playedOf(1, true, 1),
      // Of what is left of them.
      playedOf(1, true, 1),
      playedOf(2, true, 2),
      (event: RunEvent) => event.type === 'step' && event.step === 2,
    ];
    let started = await start({ settings });
    let kills = 0;
    for (const moment of moments) {
      if (!(await happened(started, moment))) break;
      if (!(await kill(started.handle))) break;
      kills++;
      started = await start({ resume: started.handle.runId });
    }
    const end = await started.handle.exited;
    expect(kills, end.message).toBeGreaterThanOrEqual(4);
    expect(end).toMatchObject({ status: 'completed' });
    expect(await finalWeights(started.run, settings)).toEqual(await finalWeights(undivided.run, settings));
    expect(await findings(started.run)).toEqual(await findings(undivided.run));
    const ids = async (run: RunReader) => (await run.headers()).map(({ id }) => id).sort();
    expect(await ids(started.run)).toEqual(await ids(undivided.run));
  }, 300_000);

  it('is refused while another one runs, in one line, and leaves no trace of the refused one', async () => {
    const { handle } = await start();
    const before = (await listRuns(world.stateFolder)).length;
    await expect(start()).rejects.toMatchObject({
      kind: 'bad-input',
      exitCode: 2,
      phrase: { template: 'A training already runs in this repository (run {0}, pid {1}).' },
      line: expect.stringMatching(new RegExp(`already runs.*${handle.runId}.*runs stop ${handle.runId}`)) as string,
    });
    expect(await listRuns(world.stateFolder)).toHaveLength(before);
  }, 120_000);

  it('refuses what cannot be trained, with the kind and the line of the error', async () => {
    const settings = { ...world.settings, model: path.join(world.root, 'nothing') };
    await expect(start({ settings })).rejects.toMatchObject({ kind: 'bad-input', exitCode: 2 });
    await expect(start({ resume: 'no-such-run' })).rejects.toMatchObject({ kind: 'bad-input', exitCode: 2 });
    const outside = {
      repoRoot: world.settings.model,
      settings: world.settings,
      owner: 'attached',
      backgroundPath,
    } as const;
    await expect(startTraining(outside)).rejects.toMatchObject({ kind: 'bad-input', exitCode: 2 });
  }, 120_000);

  it('stops when it is told to, keeps what it has, and goes on to the same end', async () => {
    const first = await start();
    await happened(first, (event) => event.type === 'step' && event.step === 1);
    first.handle.stop();
    expect(await first.handle.exited).toMatchObject({ status: 'stopped' });
    expect((await latestCheckpoint(first.run.paths.checkpoints))?.state.step).toBeGreaterThanOrEqual(1);
    expect(readdirSync(path.join(world.stateFolder, 'worktrees'))).toEqual([]);
    const { handle, run } = await start({ resume: first.handle.runId, changes: { checkpointEvery: 1 } });
    expect(await handle.exited).toMatchObject({ status: 'completed' });
    expect(await finalWeights(run)).toEqual(await finalWeights(undisturbed));
    // What the resumed run does otherwise is in its record.
    const changes = [{ setting: 'checkpointEvery', from: 2, to: 1 }];
    expect(await run.events()).toContainEqual(expect.objectContaining({ type: 'changed', changes }));
    expect((await run.config()).settings.checkpointEvery).toBe(1);
    await expect(start({ resume: handle.runId })).rejects.toMatchObject({ kind: 'bad-input' });
  }, 180_000);

  it('is found again by those who did not start it, who can pause it and let it go on', async () => {
    const { handle, run } = await start({ owner: 'detached' });
    handle.dispose();
    const again = await connectToRun(world.stateFolder, handle.runId);
    expect(again?.pid).toBe(handle.pid);
    runs.add(again!);
    again!.pause();
    await happened({ handle: again!, run, from: 0 }, (event) => event.type === 'paused');
    expect((await run.summary()).status).toBe('paused');
    again!.resume();
    await happened({ handle: again!, run, from: 0 }, (event) => event.type === 'resumed');
    expect((await run.summary()).status).toBe('running');
    again!.stop();
    expect(await again!.exited).toMatchObject({ status: 'stopped' });
    expect(await connectToRun(world.stateFolder, handle.runId)).toBeNull();
  }, 120_000);

  it('is paused by the doctor where going on is useless, and can be let go on', async () => {
    const first = await start({ settings: { ...world.settings, warmStartEpochs: 0, doctor: 'pause' } });
    await happened(first, (event) => event.type === 'step' && event.step === 1);
    first.handle.stop();
    await first.handle.exited;
    // Somebody calls the train tasks held out.
    const { config: file } = first.run.paths;
    const config = runConfigSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    writeFileSync(file, JSON.stringify({ ...config, taskIds: { ...config.taskIds, heldout: config.taskIds.train } }));
    const started = await start({ resume: first.handle.runId });
    const { handle, run } = started;
    expect(await happened(started, (event) => event.type === 'paused')).toBe(true);
    const findings = (await run.events()).filter((event) => event.type === 'finding');
    const modes = findings.map(({ finding }) => finding.mode);
    expect(modes).toContain('heldout-leak');
    expect(new Set(modes).size).toBe(modes.length);
    expect((await run.summary()).status).toBe('paused');
    handle.resume();
    expect(await handle.exited).toMatchObject({ status: 'completed' });
    // Who examines the record afterwards finds the same.
    expect((await examineRun(run)).map(({ mode }) => mode)).toEqual(expect.arrayContaining(modes));
  }, 120_000);

  it('ends with the owner that it is attached to', async () => {
    const { handle, run } = await start();
    handle.dispose();
    expect(await handle.exited).toMatchObject({ status: 'stopped' });
    expect((await run.summary()).status).toBe('stopped');
  }, 120_000);

  it.skipIf(!canMount)(
    'tells a full disk in one line, of whichever file, and goes on once there is room',
    async () => {
      const folder = path.join(world.stateFolder, 'runs');
      const expected = await finalWeights(undisturbed);
      // The smaller one has no room for the trajectories, the larger one none for a checkpoint.
      for (const size of ['40k', '200k']) {
        mount('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
        try {
          const { handle, run } = await start();
          const end = await handle.exited;
          expect(end).toMatchObject({ status: 'failed', errorKind: 'bad-input' });
          expect(end.message).toMatch(/disk full/);
          expect(end.message).not.toContain('\n');
          handle.dispose();
          mount('mount', '-o', 'remount,size=8m', folder);
          const resumed = await start({ resume: run.id });
          expect(await resumed.handle.exited).toMatchObject({ status: 'completed' });
          expect(await finalWeights(run)).toEqual(expected);
        } finally {
          runs.forget();
          mount('umount', folder);
        }
      }
    },
    400_000,
  );
});
