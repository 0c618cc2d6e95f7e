import type { Finding } from '../../trainer/doctor/finding.js';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Facet } from '../facets.js';

/** A trajectory, and what the doctor found in its run. */
export interface FilteredTrajectory {
  readonly header: TrajectoryHeader;
  readonly findings: readonly Finding[];
}

/** What the tree of runs is filtered by. */
export const runFacets: readonly Facet<FilteredTrajectory>[] = [
  { title: 'Outcome', valuesOf: ({ header }) => [outcomeWord(header)] },
  { title: 'Reward', valuesOf: ({ header }) => [rewardBand(header.reward)] },
  { title: 'Ended', valuesOf: ({ header }) => [header.stopReason] },
  { title: 'Tool', valuesOf: ({ header }) => header.tools },
  { title: 'Finding', valuesOf: findingsAbout },
  { title: 'Task', valuesOf: ({ header }) => [header.taskId] },
];

function outcomeWord({ infrastructureError, resolved }: TrajectoryHeader): string {
  if (infrastructureError !== null) return 'machine error';
  return resolved ? 'solved' : 'failed';
}

export function rewardBand(reward: number | null): string {
  if (reward === null) return 'no reward';
  if (reward < 0) return 'below 0';
  if (reward < 0.5) return '0 to 0.5';
  return reward < 1 ? '0.5 to 1' : '1 and above';
}

/** Failure modes whose evidence is this trajectory, or its step where it is no single trajectory. */
function findingsAbout({ header, findings }: FilteredTrajectory): readonly string[] {
  return findings
    .filter(({ evidence: { trajectoryId, step } }) =>
      trajectoryId === null ? step === header.step && header.kind === 'rollout' : trajectoryId === header.id,
    )
    .map(({ mode }) => mode);
}
