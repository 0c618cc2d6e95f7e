import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCli, type CliResult } from './runCli.js';

const summarySchema = z.object({
  id: z.string(),
  status: z.string(),
  evaluations: z.array(
    z.object({
      step: z.number(),
      split: z.string(),
      success: z.object({ rate: z.number(), n: z.number() }),
      validCallRate: z.number(),
    }),
  ),
  metrics: z.array(
    z.looseObject({ step: z.number(), reward: z.number(), 'sampling/sampling_logp_difference/max': z.number() }),
  ),
});
const runSchema = z.object({
  trajectories: z.array(
    z.looseObject({
      id: z.string(),
      task: z.string(),
      kind: z.string(),
      reward: z.number().nullable(),
      resolved: z.boolean(),
    }),
  ),
});
const maskSchema = z.object({
  tokens: z.array(
    z.looseObject({
      id: z.number(),
      text: z.string(),
      mask: z.number(),
      role: z.string(),
      logprob: z.number().nullable(),
      advantage: z.number().nullable(),
    }),
  ),
});
const taskSchema = z.looseObject({
  instance_id: z.string(),
  patch: z.string(),
  FAIL_TO_PASS: z.array(z.string()).min(1),
  PASS_TO_PASS: z.array(z.string()).min(1),
});
const gradeSchema = z.looseObject({ reward: z.number(), resolved: z.boolean() });

/** The README's main job, made short, and then every command that reads what it left. One run serves all tests. */
describe('the main job on the bundled repository with the embedded policy', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'whetstone quickstart '));
  const repo = path.join(folder, "it's a r\u00e9po");
  let finished: CliResult;
  let summary: z.infer<typeof summarySchema>;

  beforeAll(async () => {
    finished = await runCli(['quickstart', '--at', repo, '--steps', '1', '--json'], { timeoutMs: 590_000 });
    expect(finished.code, finished.stderr).toBe(0);
    summary = summarySchema.parse(JSON.parse(finished.stdout));
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const json = async (...args: string[]): Promise<unknown> => {
    const result = await runCli([...args, '--repo', repo, '--json'], { timeoutMs: 300_000 });
    expect(result.code, result.stderr).toBe(0);
    return JSON.parse(result.stdout);
  };
  const trajectories = async () => runSchema.parse(await json('runs', 'show', summary.id)).trajectories;

  it('evaluates before and after, and trains in between', () => {
    expect(summary.status).toBe('completed');
    expect(summary.evaluations.map(({ step, split }) => [step, split])).toEqual([
      [0, 'heldout'],
      [1, 'heldout'],
    ]);
    expect(summary.metrics).toHaveLength(1);
  });

  it('plays legal episodes before training', () => {
    expect(summary.evaluations[0].validCallRate).toBeGreaterThanOrEqual(0.95);
  });

  it('samples what the learner differentiates', () => {
    expect(summary.metrics[0]['sampling/sampling_logp_difference/max']).toBeLessThan(1e-3);
  });

  it('leaves the repository clean and no worktree behind', () => {
    expect(execFileSync('git', ['status', '--porcelain'], { cwd: repo, encoding: 'utf8' })).toBe('');
    expect(execFileSync('git', ['worktree', 'list'], { cwd: repo, encoding: 'utf8' }).trim().split('\n')).toHaveLength(
      1,
    );
  });

  it('shows the mask: 1 on sampled tokens only, which alone have log-probabilities and the advantage', async () => {
    const rollout = (await trajectories()).find(({ kind }) => kind === 'rollout')!;
    const { tokens } = maskSchema.parse(await json('mask', summary.id, rollout.id));
    for (const { mask, role, logprob, advantage } of tokens) {
      expect(logprob !== null).toBe(mask === 1);
      if (mask === 1) expect(role).toBe('assistant');
      else expect(advantage ?? 0).toBe(0);
    }
    const sampled = tokens.filter(({ mask }) => mask === 1);
    expect(sampled.map(({ text }) => text).join('')).toContain('<tool_call>');
  });

  it('replays a recorded trajectory with the same observations, and stops where told', async () => {
    const [first] = (await trajectories()).filter(({ kind }) => kind === 'rollout');
    const replay = z.object({
      same: z.boolean(),
      turns: z.array(z.looseObject({ turn: z.number(), same: z.boolean() })),
    });
    expect(replay.parse(await json('replay', summary.id, first.id)).same).toBe(true);
    expect(replay.parse(await json('replay', summary.id, first.id, '--until', '1')).turns).toHaveLength(1);
  });

  it('grades the oracle as resolved and an empty patch as not', async () => {
    const { tasks } = z.object({ tasks: z.array(taskSchema) }).parse(await json('tasks', 'list'));
    const [task] = tasks;
    const file = path.join(folder, 'patch');
    writeFileSync(file, task.patch);
    const oracle = gradeSchema.parse(await json('grade', '--task', task.instance_id, '--patch', file));
    writeFileSync(file, '');
    const empty = gradeSchema.parse(await json('grade', '--task', task.instance_id, '--patch', file));
    expect(oracle.resolved).toBe(true);
    expect(empty.resolved).toBe(false);
    expect(empty.reward).toBeLessThan(oracle.reward);
  });

  it('examines the run and finds nothing critical', async () => {
    const { findings } = z
      .object({ findings: z.array(z.looseObject({ mode: z.string(), severity: z.string(), remedy: z.string() })) })
      .parse(await json('doctor', summary.id));
    expect(findings.filter(({ severity }) => severity === 'critical')).toEqual([]);
  });

  it('lists the run and evaluates its checkpoint', async () => {
    const runs = z
      .object({ runs: z.array(z.looseObject({ id: z.string(), status: z.string() })) })
      .parse(await json('runs', 'list'));
    expect(runs.runs).toMatchObject([{ id: summary.id, status: 'completed' }]);
    const evaluation = z.looseObject({
      success: z.object({ rate: z.number(), interval: z.tuple([z.number(), z.number()]), n: z.number() }),
    });
    const { success } = evaluation.parse(await json('eval', '--run', summary.id, '--samples', '1'));
    expect(success.n).toBeGreaterThan(0);
    expect(success.interval[0]).toBeLessThanOrEqual(success.rate);
    expect(success.interval[1]).toBeGreaterThanOrEqual(success.rate);
  });
});
