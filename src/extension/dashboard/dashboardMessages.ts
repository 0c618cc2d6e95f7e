import type { RunSeries } from './runSeries.js';

/** A run that can be shown. */
export interface RunChoice {
  readonly key: string;
  readonly label: string;
  readonly isShown: boolean;
}

/** A trajectory behind a point of a chart. */
export interface PointTrajectory {
  readonly id: string;
  readonly taskId: string;
  readonly outcome: string;
  readonly reward: number | null;
}

/** From the extension to the page. */
export type ToDashboard =
  | { readonly type: 'runs'; readonly runs: readonly RunChoice[]; readonly series: readonly RunSeries[] }
  | {
      readonly type: 'trajectories';
      readonly key: string;
      readonly title: string;
      readonly trajectories: readonly PointTrajectory[];
    };

/** From the page to the extension. */
export type FromDashboard =
  | { readonly type: 'ready' }
  | { readonly type: 'show'; readonly keys: readonly string[] }
  /** A point was clicked: a step's, or an evaluation's. */
  | { readonly type: 'point'; readonly key: string; readonly step: number; readonly kind: 'rollout' | 'evaluation' }
  | { readonly type: 'open'; readonly key: string; readonly trajectoryId: string };
