import { RunMemory, type RunCounts } from '../../env/workspace/runMemory.js';
import type { Settings } from '../run/settings.js';

/**
 * What the test runs of a process's rollouts found, so that the same tree is tested once: the attempts at a task are in the
 * same trees again and again. What a policy's own tree was seen to do never answers a grade: there are two memories.
 */
export class TestMemory {
  readonly shown = new RunMemory('shown');
  readonly graded = new RunMemory('graded');

  get counts(): RunCounts {
    const [shown, graded] = [this.shown.counts, this.graded.counts];
    return { asked: shown.asked + graded.asked, remembered: shown.remembered + graded.remembered };
  }
}

/** Null where the settings want each run made, or where others make them. */
export const testMemoryOf = ({ rememberTestRuns, workers }: Pick<Settings, 'rememberTestRuns' | 'workers'>) =>
  rememberTestRuns && workers.length === 0 ? new TestMemory() : null;

/** The share of the test runs since `before` that were not made, since their result was known; nothing where none was asked for. */
export function rememberedMetrics(before: RunCounts, now: RunCounts): Record<string, number> {
  const asked = now.asked - before.asked;
  return asked === 0 ? {} : { 'timing/remembered_test_runs': (now.remembered - before.remembered) / asked };
}
