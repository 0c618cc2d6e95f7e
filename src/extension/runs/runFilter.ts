import type { Finding } from '../../trainer/doctor/finding.js';
import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { wordIn, type Facet } from '../facets.js';
import { t } from '../translate.js';

/** A trajectory, and what the doctor found in its run. */
export interface FilteredTrajectory {
  readonly header: TrajectoryHeader;
  readonly findings: readonly Finding[];
}

const outcomeWords = {
  solved: () => t('solved'),
  failed: () => t('failed'),
  'machine-error': () => t('machine error'),
} as const;
const bandWords = {
  none: () => t('no reward'),
  'below-0': () => t('below 0'),
  '0-to-0.5': () => t('0 to 0.5'),
  '0.5-to-1': () => t('0.5 to 1'),
  '1-and-above': () => t('1 and above'),
} as const;

/** What the tree of runs is filtered by. */
export const runFacets: readonly Facet<FilteredTrajectory>[] = [
  {
    id: 'outcome',
    title: () => t('Outcome'),
    valuesOf: ({ header }) => [outcomeOf(header)],
    wordOf: wordIn(outcomeWords),
  },
  {
    id: 'reward',
    title: () => t('Reward'),
    valuesOf: ({ header }) => [rewardBand(header.reward)],
    wordOf: wordIn(bandWords),
  },
  { id: 'ended', title: () => t('Ended'), valuesOf: ({ header }) => [header.stopReason] },
  { id: 'tool', title: () => t('Tool'), valuesOf: ({ header }) => header.tools },
  { id: 'finding', title: () => t('Finding'), valuesOf: findingsAbout },
  { id: 'task', title: () => t('Task'), valuesOf: ({ header }) => [header.taskId] },
];

function outcomeOf({ infrastructureError, resolved }: TrajectoryHeader): keyof typeof outcomeWords {
  if (infrastructureError !== null) return 'machine-error';
  return resolved ? 'solved' : 'failed';
}

export function rewardBand(reward: number | null): keyof typeof bandWords {
  if (reward === null) return 'none';
  if (reward < 0) return 'below-0';
  if (reward < 0.5) return '0-to-0.5';
  return reward < 1 ? '0.5-to-1' : '1-and-above';
}

/** Failure modes whose evidence is this trajectory, or its step where it is no single trajectory. */
function findingsAbout({ header, findings }: FilteredTrajectory): readonly string[] {
  return findings
    .filter(({ evidence: { trajectoryId, step } }) =>
      trajectoryId === null ? step === header.step && header.kind === 'rollout' : trajectoryId === header.id,
    )
    .map(({ mode }) => mode);
}
