import type { Quarantine } from './quarantine.js';
import type { TreePaths } from './treePaths.js';

/** What trying a candidate is told. */
export interface AttemptSettings {
  readonly seed: number;
  /** How often each tree's tests are run. */
  readonly validationRuns: number;
  /** About how long one run of a task's tests may take. */
  readonly gradingMs: number;
  /** For one run of the tests. */
  readonly timeoutMs: number;
  readonly paths: TreePaths;
  /** Is this a source whose change would not be what the tests load? */
  readonly isOutOfReach: (path: string) => boolean;
  /** Learns which tests waver. */
  readonly quarantine: Quarantine;
  readonly signal?: AbortSignal;
}
