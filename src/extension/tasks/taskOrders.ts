import type { Order } from '../orders.js';
import { t } from '../translate.js';
import { kindOfTask, sizeOfPatch, type KnownTask } from './taskTree.js';

const solvedRate = ({ record: { played, solved } }: KnownTask) => (played === 0 ? null : solved / played);
const oracleLines = ({ task }: KnownTask) => {
  const { added, removed } = sizeOfPatch(task.patch);
  return added + removed;
};

/** How the tasks of the view can be put in order. */
export const taskOrders: readonly Order<KnownTask>[] = [
  { id: 'built', title: () => t('As Built') },
  { id: 'name', title: () => t('By Name'), of: ({ task }) => task.instance_id },
  { id: 'kind', title: () => t('By Kind'), of: ({ task }) => kindOfTask(task) },
  { id: 'solved-up', title: () => t('Solved Least Often First'), of: solvedRate },
  { id: 'solved-down', title: () => t('Solved Most Often First'), of: solvedRate, down: true },
  { id: 'played-down', title: () => t('Most Played First'), of: ({ record }) => record.played, down: true },
  { id: 'played-up', title: () => t('Least Played First'), of: ({ record }) => record.played },
  { id: 'oracle-up', title: () => t('Shortest Oracle First'), of: oracleLines },
  { id: 'oracle-down', title: () => t('Longest Oracle First'), of: oracleLines, down: true },
];
