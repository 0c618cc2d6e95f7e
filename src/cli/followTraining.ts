import type { TrainingEnd, TrainingHandle } from '../trainer/background/client.js';
import type { RunReader } from '../trainer/run/runReader.js';
import type { RunEvent } from '../trainer/run/runRecord.js';
import { percent, type ProgressLine } from './output.js';

const stageNames: Record<string, string> = {
  tasks: 'Building tasks',
  'evaluate-before': 'Held-out tasks before training',
  'warm-start': 'Warm start',
  train: 'Training',
  'evaluate-after': 'Held-out tasks after training',
};

/** What a person is told about an event; null for those that only move the progress line. */
export function describeEvent(event: RunEvent): string | null {
  switch (event.type) {
    case 'started':
      return event.resumedFromStep === null ? null : `Resumed after step ${event.resumedFromStep}.`;
    case 'changed':
      return event.changes.map(({ setting, from, to }) => `${setting}: from here on ${to}, before ${from}.`).join(' ');
    case 'evaluation': {
      const [low, high] = event.success.interval;
      return `  ${event.split === 'heldout' ? 'held-out' : event.split} success ${percent(event.success.rate)} (95 % interval ${percent(low)} to ${percent(high)}, ${event.success.n} episodes)`;
    }
    case 'warm-start':
      return event.update === 1 || event.update === event.updates
        ? `  update ${event.update} of ${event.updates}: loss ${event.metrics.loss?.toFixed(3)}`
        : null;
    case 'step': {
      const { reward, success, kl, step_time: seconds } = event.metrics;
      const parts = [
        reward === undefined ? '' : `reward ${reward.toFixed(3)}`,
        success === undefined ? '' : `success ${percent(success)}`,
        kl === undefined ? '' : `kl ${kl.toFixed(4)}`,
        event.method === undefined || event.method === 'policy-gradient' ? '' : event.method,
        seconds === undefined ? '' : `${seconds.toFixed(0)} s`,
      ];
      return `  step ${event.step}: ${parts.filter(Boolean).join(', ')}`;
    }
    case 'finding':
      return `  doctor, ${event.finding.severity}: ${event.finding.message} ${event.finding.remedy}`;
    case 'notice':
      return `  ${event.message}`;
    case 'paused':
      return 'Paused. `whetstone runs continue` goes on, Ctrl-C stops.';
    case 'resumed':
      return 'Resumed.';
    default:
      return null;
  }
}

/**
 * Shows a training until its process is gone. When `signal` is aborted the training is asked to stop, in order; its
 * record stays whole.
 */
export async function followTraining(
  handle: TrainingHandle,
  run: RunReader,
  progress: ProgressLine,
  signal: AbortSignal,
): Promise<TrainingEnd> {
  let shown = 0;
  let stage: string | null = null;
  const show = async () => {
    const events = await run.events();
    for (; shown < events.length; shown++) {
      const event = events[shown];
      if (event.type === 'stage' && event.stage !== stage) {
        stage = event.stage;
        progress.say(`${stageNames[stage] ?? stage}...`);
      } else if (event.type === 'progress') {
        progress.update({ message: `  ${event.done}/${event.total} ${event.message}` });
      } else {
        const line = describeEvent(event);
        if (line !== null) progress.say(line);
      }
    }
  };
  // One reading at a time, and one more after whatever changed meanwhile.
  let reading: Promise<void> = show();
  const listening = handle.onChanged(() => (reading = reading.then(show, show)));
  const stop = () => {
    progress.say('Stopping...');
    handle.stop();
  };
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const end = await handle.exited;
    await reading.catch(() => undefined);
    await show();
    return end;
  } finally {
    signal.removeEventListener('abort', stop);
    listening.dispose();
    progress.clear();
  }
}
