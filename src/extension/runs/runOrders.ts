import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Order } from '../orders.js';
import { t } from '../translate.js';

/** How trajectories of a task, and the tasks of a step by the first of theirs, can be put in order. */
export const trajectoryOrders: readonly Order<TrajectoryHeader>[] = [
  { id: 'played', title: () => t('As Played') },
  { id: 'reward-down', title: () => t('Highest Reward First'), of: ({ reward }) => reward, down: true },
  { id: 'reward-up', title: () => t('Lowest Reward First'), of: ({ reward }) => reward },
  { id: 'turns-down', title: () => t('Most Turns First'), of: ({ turns }) => turns, down: true },
  { id: 'turns-up', title: () => t('Fewest Turns First'), of: ({ turns }) => turns },
  { id: 'tokens-down', title: () => t('Most Tokens First'), of: ({ tokens }) => tokens, down: true },
  { id: 'tokens-up', title: () => t('Fewest Tokens First'), of: ({ tokens }) => tokens },
  { id: 'seconds-down', title: () => t('Longest Time First'), of: ({ seconds }) => seconds, down: true },
  { id: 'seconds-up', title: () => t('Shortest Time First'), of: ({ seconds }) => seconds },
];
