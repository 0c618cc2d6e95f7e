import type { AlignedFile } from './alignedPieces.js';
import type { RewardReport } from './rewardReport.js';

/** From the extension to the page. */
export type ToReward =
  | { readonly type: 'report'; readonly key: string; readonly report: RewardReport }
  | { readonly type: 'grading'; readonly isOn: boolean }
  | { readonly type: 'alignment'; readonly file: AlignedFile };

/** From the page to the extension. */
export type FromReward =
  | { readonly type: 'ready' }
  | { readonly type: 'compare' }
  | { readonly type: 'align'; readonly path: string }
  | { readonly type: 'gradeAgain' }
  | { readonly type: 'openTrajectory' };
