import type { Trajectory } from '../../trajectory/trajectory.js';
import { hasChanged, playedCalls, testCounts } from '../rollout/playedCalls.js';

/**
 * What a search may know of an episode: what its policy saw and said. No scorer looks at the grade, the oracle, or tests that the
 * policy could not run. -Infinity where there is nothing to say.
 */
export type Scorer = (trajectory: Pick<Trajectory, 'nodes' | 'stopReason'>) => number;

export const scorerNames = ['tests', 'milestones', 'logprob'] as const;
export type ScorerName = (typeof scorerNames)[number];

/** The share of tests that pass by the last run that the policy made after its last change; 0 where it made none. */
const tests: Scorer = (trajectory) => {
  const calls = playedCalls(trajectory);
  const lastRun = calls.findLastIndex((call) => testCounts(call) !== null);
  if (lastRun < 0 || lastRun < calls.findLastIndex(hasChanged)) return 0;
  const { passed, failed } = testCounts(calls[lastRun]!)!;
  return passed + failed === 0 ? 0 : passed / (passed + failed);
};

/**
 * The share of these that happened, each verifiable from what the tools answered: the failure was reproduced, a file was opened,
 * one was changed, the tests ran after the last change, all of them passed there, the work was submitted.
 */
const milestones: Scorer = (trajectory) => {
  const calls = playedCalls(trajectory);
  const firstChange = calls.findIndex(hasChanged);
  const before = firstChange < 0 ? calls : calls.slice(0, firstChange);
  const lastChange = calls.findLastIndex(hasChanged);
  const after = firstChange < 0 ? [] : calls.slice(lastChange).flatMap((call) => testCounts(call) ?? []);
  const reached = [
    before.some(({ tool, went }) => tool === 'run_tests' && !went),
    calls.some(({ tool, went }) => tool === 'open' && went),
    firstChange >= 0,
    after.length > 0,
    after.at(-1)?.failed === 0,
    trajectory.stopReason === 'submitted',
  ];
  return reached.filter(Boolean).length / reached.length;
};

/** Mean log-probability of the tokens that its policy sampled, those of a shared prefix too. */
const logprob: Scorer = ({ nodes }) => {
  let sum = 0;
  let tokens = 0;
  for (const { actionMask, logprobs } of nodes) {
    actionMask.forEach((bit, index) => {
      if (bit === 0) return;
      sum += logprobs[index]!;
      tokens++;
    });
  }
  return tokens === 0 ? -Infinity : sum / tokens;
};

export const scorers: Readonly<Record<ScorerName, Scorer>> = { tests, milestones, logprob };
