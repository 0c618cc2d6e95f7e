import type { RewardReport } from './rewardReport.js';

/** From the extension to the page. */
export type ToReward =
  | { readonly type: 'report'; readonly key: string; readonly report: RewardReport }
  | { readonly type: 'grading'; readonly isOn: boolean };

/** From the page to the extension. */
export type FromReward =
  | { readonly type: 'ready' }
  | { readonly type: 'compare' }
  | { readonly type: 'gradeAgain' }
  | { readonly type: 'openTrajectory' };
