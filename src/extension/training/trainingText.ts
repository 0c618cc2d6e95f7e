import type { RunEvent, RunSummary, Stage } from '../../trainer/run/runRecord.js';
import { ofEngine, t } from '../translate.js';

const stageNames: Readonly<Record<Stage, () => string>> = {
  tasks: () => t('building tasks'),
  'evaluate-before': () => t('evaluating before training'),
  'warm-start': () => t('warm start'),
  train: () => t('training'),
  'evaluate-after': () => t('evaluating after training'),
};

/** Share of the whole, in percent, that lies before a stage and inside of it. */
const stageSpans: Readonly<Record<Stage, readonly [start: number, length: number]>> = {
  tasks: [0, 10],
  'evaluate-before': [10, 10],
  'warm-start': [20, 5],
  train: [25, 65],
  'evaluate-after': [90, 10],
};

/** A running training in words: for the status bar, for the progress notification, and as a share of the whole. */
export function trainingText(
  { status, stage, step, steps }: RunSummary,
  events: readonly RunEvent[],
): { readonly status: string; readonly message: string; readonly percent: number } {
  const lastStep = events.findLast((event) => event.type === 'step');
  const lastEvent = events.findLast((event) => event.type === 'progress' || event.type === 'stage');
  const progress = lastEvent?.type === 'progress' && lastEvent.stage === stage ? lastEvent : undefined;
  const reward = lastStep?.metrics.reward;
  const rewardText = reward === undefined ? '' : ` · ${t('reward {0}', reward.toFixed(2))}`;
  const stepText = stage === 'train' ? ` · ${t('step {0} of {1}', step, steps)}` : '';
  const name = stage ? stageNames[stage]() : t('starting');
  const paused = status === 'paused' ? `${t('paused')} · ` : '';
  const detail = progress?.message ? ` · ${ofEngine(progress)}` : '';

  const [start, length] = stage ? stageSpans[stage] : [0, 0];
  const inStep = progress && progress.total > 0 ? Math.min(1, progress.done / progress.total) : 0;
  const share = stage === 'train' ? Math.min(1, step / Math.max(1, steps)) : inStep;
  return {
    status: `${paused}${name}${stepText}${rewardText}`,
    message: `${paused}${name}${detail || stepText}${rewardText}`,
    percent: Math.floor(start + length * share),
  };
}
