import { isTurn } from '../../trajectory/message.js';
import { shownAnew } from '../../trajectory/shownAnew.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { GroupAdvantages } from './advantages.js';
import type { PolicySums } from './policyGradient.js';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
/** 0 of nothing: a record holds finite numbers only. */
export const meanOf = (values: readonly number[]) => (values.length === 0 ? 0 : sum(values) / values.length);

/** Of a sample, as TRL has it (n - 1 below); 0 of fewer than two values. */
function deviationOf(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const mean = meanOf(values);
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
}

/** A limit cut it off: the policy had not come to an end. */
export const isTruncated = ({ stopReason }: Pick<Trajectory, 'stopReason'>) =>
  stopReason === 'turn-limit' || stopReason === 'token-limit' || stopReason === 'time-limit';

/** What a step's rollouts say about the policy that played them, by TRL's names. All finite. */
export function rolloutMetrics(
  trajectories: readonly Trajectory[],
  groups: readonly GroupAdvantages[],
): Record<string, number> {
  const grades = trajectories.flatMap(({ grade }) => (grade === null ? [] : [grade]));
  const statistics = trajectories.map((trajectory) => trajectory.statistics);
  const failedCalls = sum(
    statistics.map(
      ({ malformedCalls, unknownTools, invalidArguments }) => malformedCalls + unknownTools + invalidArguments,
    ),
  );
  const calls = failedCalls + sum(statistics.map(({ validCalls }) => validCalls));
  const components = [...new Set(grades.flatMap((grade) => Object.keys(grade.components)))].sort();
  const lengths = statistics.map(({ sampledTokens }) => sampledTokens);
  return {
    reward: meanOf(grades.map(({ reward }) => reward)),
    reward_std: meanOf(groups.map(({ standardDeviation }) => standardDeviation)),
    frac_reward_zero_std: meanOf(groups.map(({ equalRewards }) => (equalRewards ? 1 : 0))),
    'groups/played': groups.length,
    'groups/equal_rewards': groups.filter(({ equalRewards }) => equalRewards).length,
    ...Object.fromEntries(
      components.flatMap((name) => {
        const scores = grades.flatMap(({ components }) => (name in components ? [components[name].score] : []));
        return [
          [`rewards/${name}/mean`, meanOf(scores)],
          [`rewards/${name}/std`, deviationOf(scores)],
        ];
      }),
    ),
    success: meanOf(grades.map(({ resolved }) => (resolved ? 1 : 0))),
    'completions/mean_length': meanOf(lengths),
    'completions/min_length': lengths.length === 0 ? 0 : lengths.reduce((least, length) => Math.min(least, length)),
    'completions/max_length': lengths.reduce((most, length) => Math.max(most, length), 0),
    'completions/clipped_ratio': meanOf(trajectories.map((trajectory) => (isTruncated(trajectory) ? 1 : 0))),
    'tools/call_frequency': trajectories.length === 0 ? 0 : calls / trajectories.length,
    'tools/failure_frequency': calls === 0 ? 0 : failedCalls / calls,
    'rollouts/turns': meanOf(statistics.map(({ turns }) => turns)),
    'rollouts/infrastructure_failures': trajectories.length - grades.length,
    ...forcedMetrics(trajectories),
    ...rewriteMetrics(trajectories),
  };
}

/** How many times, in a rollout, the chat template rewrote the history; nothing where it never did. */
export function rewriteMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const rewrites = trajectories.map(
    ({ nodes }) => shownAnew(nodes).filter(({ reason }) => reason === 'template').length,
  );
  return sum(rewrites) === 0 ? {} : { 'rollouts/template_rewrites': meanOf(rewrites) };
}

/** Share of the turns whose tool exploration forced; nothing where it forced none. What a branch shares is another's. */
export function forcedMetrics(trajectories: readonly Trajectory[]): Record<string, number> {
  const turns = trajectories.flatMap(({ nodes, origin }) =>
    nodes.slice(origin?.nodes ?? 0).filter(({ message }) => isTurn(message)),
  );
  const forced = turns.filter((turn) => turn.forced !== undefined).length;
  return forced === 0 ? {} : { 'rollouts/forced_turns': forced / turns.length };
}

/**
 * What the updates of a step did to its tokens, by TRL's names (`pg_clipfrac_lower`, of dual clip: verl's). All finite.
 * @param sums one a trajectory and update
 */
export function policyMetrics(sums: readonly PolicySums[]): Record<string, number> {
  const total = (key: keyof PolicySums) => sum(sums.map((one) => one[key]));
  const perToken = (key: keyof PolicySums) => total(key) / total('tokens');
  return {
    kl: perToken('kl'),
    'clip_ratio/region_mean': perToken('clipped'),
    'clip_ratio/low_mean': perToken('clippedLow'),
    'clip_ratio/low_min': sums.reduce((least, one) => Math.min(least, one.clippedLow / one.tokens), 1),
    'clip_ratio/high_mean': perToken('clippedHigh'),
    'clip_ratio/high_max': sums.reduce((most, one) => Math.max(most, one.clippedHigh / one.tokens), 0),
    'actor/pg_clipfrac_lower': perToken('clippedDual'),
    'ratio/mean': perToken('ratio'),
    loss: total('loss'),
  };
}

/** Mean and extremes of the importance weights between sampler and learner, by TRL's names; nothing without any. */
export function importanceMetrics(weights: readonly number[]): Record<string, number> {
  if (weights.length === 0) return {};
  return {
    'sampling/importance_sampling_ratio/min': weights.reduce((least, value) => Math.min(least, value), Infinity),
    'sampling/importance_sampling_ratio/mean': meanOf(weights),
    'sampling/importance_sampling_ratio/max': weights.reduce((most, value) => Math.max(most, value), 0),
  };
}
