import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { toolSchemas } from '../../env/tools/tools.js';
import { openRun } from '../../trainer/run/runReader.js';
import { toVerifiersTrace } from '../export/verifiers.js';
import { branchedTrajectory, injectedTask, learned } from '../fixture.testing.js';
import { readForeignCurves } from '../readers/curves.js';
import { readForeignTrajectories } from '../readers/readTrajectories.js';
import { importRun } from './importRun.js';

function options(model: string | null) {
  const repoRoot = mkdtempSync(path.join(tmpdir(), "import 'é "));
  onTestFinished(() => rmSync(repoRoot, { recursive: true, force: true }));
  return {
    repoRoot,
    stateFolder: path.join(repoRoot, '.whetstone'),
    headCommit: '0'.repeat(40),
    model,
    now: new Date(),
  };
}

function exported() {
  const trace = toVerifiersTrace(branchedTrajectory, {
    tools: toolSchemas,
    task: injectedTask,
    learned,
    model: 'tiny',
    startedAt: 0,
    whetstoneVersion: '0',
  });
  return readForeignTrajectories(Buffer.from(JSON.stringify(trace)), 'traces.jsonl');
}

it('what was exported to verifiers comes back: the tree, tokens, masks, log-probabilities, advantages, the reward', async () => {
  const own = options('/models/tiny');
  const { runId, trajectories, steps } = await importRun([exported()], [], own);
  expect({ trajectories, steps }).toEqual({ trajectories: 1, steps: 1 });
  const run = openRun(own.stateFolder, runId);
  const back = await run.trajectory(branchedTrajectory.id);
  const tokens = ({ nodes }: typeof back) =>
    nodes.map(({ parent, tokenIds, actionMask, logprobs }) => ({ parent, tokenIds, actionMask, logprobs }));
  expect(tokens(back)).toEqual(tokens(branchedTrajectory));
  for (const field of ['kind', 'step', 'taskId', 'sample', 'seed', 'stopReason', 'sandbox', 'policyStep'] as const) {
    expect(back[field]).toEqual(branchedTrajectory[field]);
  }
  expect(back.grade?.reward).toBeCloseTo(0.1, 12);
  expect((await run.learned(back.id))?.advantages.filter((value) => value !== 0)).toEqual(
    new Float32Array(12).fill(0.5),
  );
  expect(await run.steps()).toMatchObject([
    { step: 3, metrics: { success: 0 }, groups: [{ taskId: injectedTask.instance_id, advantages: [0.5] }] },
  ]);
  expect(await run.summary()).toMatchObject({ status: 'completed', message: 'Imported: verifiers.' });
});

it('without the tokenizer that made the ids, the messages are kept and the ids are not', async () => {
  const own = options(null);
  const { runId, withoutTokens } = await importRun([exported()], [], own);
  expect(withoutTokens).toBe(1);
  const { nodes } = await openRun(own.stateFolder, runId).trajectory(branchedTrajectory.id);
  expect(nodes.every(({ tokenIds }) => tokenIds.length === 0)).toBe(true);
  expect(nodes[3].message).toEqual({ ...branchedTrajectory.nodes[3].message, toolCallId: 'call_1_0' });
});

it('trajectories of one task from several files are all kept', async () => {
  const own = options(null);
  const file = () => {
    const name = 'swe-agent.traj';
    return readForeignTrajectories(readFileSync(path.resolve('test-fixtures/interop', name)), name);
  };
  const { runId } = await importRun([file(), file()], [], own);
  const headers = await openRun(own.stateFolder, runId).headers();
  expect(headers.map(({ id }) => id)).toEqual(['eval-000000/swe-agent/0', 'eval-000000/swe-agent/1']);
});

it('the curves of the training come beside what the rollouts tell, and alone', async () => {
  const state = JSON.stringify({
    global_step: 4,
    log_history: [
      { step: 3, reward: 0.9, kl: 0.1 },
      { step: 4, kl: 0.2 },
    ],
  });
  const curves = readForeignCurves(state, 'trainer_state.json')!;
  const own = options(null);
  const { runId, steps } = await importRun([exported()], [curves], own);
  expect(steps).toBe(2);
  expect(await openRun(own.stateFolder, runId).steps()).toMatchObject([
    // The trainer's own figure counts: it saw every rollout.
    { step: 3, metrics: { success: 0, reward: 0.9, kl: 0.1 }, groups: [{ taskId: injectedTask.instance_id }] },
    { step: 4, metrics: { kl: 0.2 }, groups: [] },
  ]);
  const alone = options(null);
  const imported = await importRun([], [curves], alone);
  expect(imported).toMatchObject({ trajectories: 0, steps: 2 });
  expect(await openRun(alone.stateFolder, imported.runId).summary()).toMatchObject({
    status: 'completed',
    message: 'Imported: transformers.',
  });
});
