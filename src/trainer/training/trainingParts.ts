import type { openEnvironment } from '../../env/openEnvironment.js';
import type { Policy } from '../loadPolicy.js';
import type { Learner } from '../model/policy.js';
import type { Arena } from '../rollout/arena.js';
import { environmentArena } from '../rollout/environmentArena.js';
import type { TestMemory } from '../rollout/testMemory.js';
import type { RunControl } from '../run/runControl.js';
import type { RunReader } from '../run/runReader.js';
import type { RunWriter } from '../run/runWriter.js';
import type { Settings } from '../run/settings.js';
import { workerArena, type Workers } from '../workers/workerArena.js';

export type TrainingEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

/** What a training works with from its beginning to its end. */
export interface TrainingParts {
  readonly environment: TrainingEnvironment;
  /** Where episodes are played in place of here; null: here. */
  readonly workers: Workers | null;
  /** What test runs of rollouts and evaluations found; null: each is made. */
  readonly testMemory: TestMemory | null;
  readonly policy: Policy;
  /** Null where nothing is held against a reference. */
  readonly reference: Learner | null;
  readonly reader: RunReader;
  readonly writer: RunWriter;
  readonly control: RunControl;
}

/** Where the policy plays: here, or on the workers. */
export function arenaOf({ environment, workers, policy, testMemory }: TrainingParts, settings: Settings): Arena {
  const { example } = policy.codec.toolFormat;
  return workers === null
    ? environmentArena(environment, settings, example, testMemory)
    : workerArena(workers, settings, example);
}
