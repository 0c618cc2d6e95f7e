import { expect, it } from 'vitest';
import type { Grade } from '../../trajectory/grade.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { groupAdvantages } from './advantages.js';
import { rolloutMetrics } from './stepMetrics.js';

const graded = (score: number): Grade => ({
  reward: score,
  resolved: score === 1,
  components: { tests: { score, weight: 1 } },
  tests: [],
  files: [],
});
const rollout = (sampledTokens: number, grade: Grade | null) =>
  ({
    stopReason: 'submitted',
    nodes: [],
    grade,
    statistics: { turns: 2, malformedCalls: 0, unknownTools: 1, invalidArguments: 0, validCalls: 3, sampledTokens },
  }) as unknown as Trajectory;

it("tells what TRL's users look for: reward, each component's mean and deviation, lengths, calls", () => {
  const rewards = [1, 0.5, 0.75];
  const rollouts = [...rewards.map((reward, index) => rollout(10 * (index + 1), graded(reward))), rollout(90, null)];
  expect(rolloutMetrics(rollouts, [groupAdvantages([...rewards, null])])).toMatchObject({
    reward: 0.75,
    reward_std: 0.25,
    frac_reward_zero_std: 0,
    'rewards/tests/mean': 0.75,
    'rewards/tests/std': 0.25,
    'completions/mean_length': 37.5,
    'completions/min_length': 10,
    'completions/max_length': 90,
    'tools/call_frequency': 4,
    'tools/failure_frequency': 0.25,
    'rollouts/infrastructure_failures': 1,
  });
});

it('tells the share of turns whose tool was forced, of a branch those that are its own', () => {
  const turn = (forced?: number) => ({
    message: { role: 'assistant', content: '', toolCalls: [], raw: '' },
    ...(forced === undefined ? {} : { forced }),
  });
  const nodes = [{ message: { role: 'user', content: '' } }, turn(3), turn(), turn()];
  const whole = { ...rollout(1, graded(1)), nodes } as unknown as Trajectory;
  const branch = { ...whole, origin: { trajectoryId: 'a', turn: 2, nodes: 3, policy: '' } };
  const shareOf = (trajectories: Trajectory[]) => rolloutMetrics(trajectories, [])['rollouts/forced_turns'];
  expect([shareOf([whole]), shareOf([whole, branch]), shareOf([branch])]).toEqual([1 / 3, 1 / 4, undefined]);
});

it('tells how often the template rewrote the history, where it did', () => {
  const user = { role: 'user', content: '' };
  const rewritten = ['template', 'window', 'template'].map((branch) => ({ message: user, branch }));
  const played = [rollout(1, graded(1)), { ...rollout(1, graded(0)), nodes: rewritten } as unknown as Trajectory];
  expect(rolloutMetrics(played, [])['rollouts/template_rewrites']).toBe(1);
  expect(rolloutMetrics(played.slice(0, 1), [])).not.toHaveProperty('rollouts/template_rewrites');
});

it('holds finite numbers only, also where nothing was played', () => {
  for (const none of [rolloutMetrics([], []), rolloutMetrics([rollout(1, null)], [groupAdvantages([null])])])
    expect(Object.values(none).every(Number.isFinite)).toBe(true);
});
