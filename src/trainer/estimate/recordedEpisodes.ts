import { listRuns, openRun } from '../run/runReader.js';
import type { RunEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';
import type { EpisodeLength } from './operations.js';

/** What episodes were like on average. */
export interface MeanEpisode extends EpisodeLength {
  /** Of the clock that playing took, for each episode: those side by side share their time. */
  readonly seconds: number;
}

/** The rollouts of an earlier run. */
export interface RecordedEpisodes {
  readonly run: string;
  readonly settings: Settings;
  readonly mean: MeanEpisode;
}

/** The mean of the rollouts of a run's steps; null where none was played. */
export function meanEpisode(steps: readonly Extract<RunEvent, { type: 'step' }>[]): MeanEpisode | null {
  let [episodes, sampled, seconds] = [0, 0, 0];
  for (const { metrics, groups } of steps) {
    const played = groups.reduce((sum, { trajectoryIds }) => sum + trajectoryIds.length, 0);
    const mean = metrics['completions/mean_length'];
    if (mean === undefined) continue;
    episodes += played;
    sampled += played * mean;
    seconds += metrics['timing/rollout'] ?? 0;
  }
  // It counts up over the run.
  const tokens = steps.at(-1)?.metrics['num_tokens'] ?? 0;
  if (episodes === 0 || tokens === 0) return null;
  return { tokens: tokens / episodes, sampled: sampled / episodes, seconds: seconds / episodes };
}

/** Those of the repository's newest run with the model; null where there is none. */
export async function recordedEpisodes(stateFolder: string, model: string): Promise<RecordedEpisodes | null> {
  for (const { id, step } of await listRuns(stateFolder)) {
    if (step === 0) continue;
    const reader = openRun(stateFolder, id);
    const { settings } = await reader.config();
    if (settings.model !== model) continue;
    const mean = meanEpisode(await reader.steps());
    if (mean !== null) return { run: id, settings, mean };
  }
  return null;
}
