import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import type { RunConfig, RunEvent } from '../run/runRecord.js';
import type { Finding } from './finding.js';

export type StepEvent = Extract<RunEvent, { type: 'step' }>;
export type EvaluationEvent = Extract<RunEvent, { type: 'evaluation' }>;

/** Looks for one failure mode in a run that is shown to it from the first step to the last. Keeps no trajectory. */
export interface Detector {
  onStep?(event: StepEvent): void;
  onEvaluation?(event: EvaluationEvent): void;
  /** Trajectories of a step come before the step. `learned` is null where nothing was learned from it. */
  onTrajectory?(trajectory: Trajectory, learned: LearnedTokens | null): void;
  /** What has been found so far; at most one finding a mode. */
  findings(): Finding[];
}

export type MakeDetector = (config: RunConfig) => Detector;

export const percent = (share: number) => `${Math.round(100 * share)} %`;
export const rounded = (value: number) => (value === 0 ? '0' : String(Number(value.toPrecision(3))));

/** Middle value; NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
