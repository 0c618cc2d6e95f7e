import path from 'node:path';
import { expect, it } from 'vitest';
import { oneTurnRollout } from '../../src/trainer/oneTurnRollout.testing.js';
import { NodePath } from '../../src/trainer/rollout/nodes.js';
import { createRun } from '../../src/trainer/run/createRun.js';
import { RunWriter } from '../../src/trainer/run/runWriter.js';
import { settingsSchema } from '../../src/trainer/run/settings.js';
import type { Trajectory } from '../../src/trajectory/trajectory.js';
import { makeRepository, runCli } from './runCli.js';

function rollout(): Trajectory {
  const nodes = new NodePath();
  nodes.addGiven({ role: 'user', content: 'add is wrong' }, Int32Array.of(1, 2, 3));
  const three = new Float32Array(3);
  nodes.addSampled(
    { role: 'assistant', content: 'yes', toolCalls: [], raw: 'yes' },
    { tokenIds: Int32Array.of(4, 5, 6), logprobs: three.fill(-1), entropies: three, finishReason: 'stop' },
  );
  return oneTurnRollout(0, nodes, 1);
}

/** A run of one rollout, recorded as training would. */
async function record(repo: string, runId: string, trajectory: Trajectory): Promise<void> {
  const paths = await createRun(path.join(repo, '.whetstone'), {
    version: 1,
    runId,
    createdAt: '2026-01-01T00:00:00.000Z',
    repoRoot: repo,
    headCommit: '0'.repeat(40),
    settings: settingsSchema.parse({}),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  });
  const writer = new RunWriter(paths);
  writer.trajectory(trajectory);
  writer.close();
}

it('names a leak of observation tokens into the mask, and tokens that are masked off, with the token and an exit code of 1', async () => {
  const repo = await makeRepository({ 'a.js': '1;\n' });
  const [leaking, off] = [rollout(), rollout()];
  leaking.nodes[0].actionMask[1] = 1;
  off.nodes[1].actionMask.fill(0);
  for (const [runId, trajectory, mode, token] of [
    ['leaking', leaking, 'mask-leak', 1],
    ['off', off, 'mask-off', 3],
  ] as const) {
    await record(repo, runId, trajectory);
    const { code, stdout } = await runCli(['doctor', runId, '--repo', repo, '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      run: runId,
      findings: [{ mode, severity: 'critical', evidence: { step: 1, trajectoryId: trajectory.id, token } }],
    });
    expect(code).toBe(1);
    const told = await runCli(['doctor', runId, '--repo', repo]);
    expect(told.stdout).toContain(`Seen first: step 1, trajectory ${trajectory.id}, token ${token}`);
  }
});

it('is silent about a run that is well, and says in one line that there is no such run', async () => {
  const repo = await makeRepository({ 'a.js': '1;\n' });
  await record(repo, 'well', rollout());
  const well = await runCli(['doctor', 'well', '--repo', repo]);
  expect(well).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing is wrong with run well') as string });
  const none = await runCli(['doctor', 'none', '--repo', repo]);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/^[^\n]*No run "none"[^\n]*\n$/) as string });
});
