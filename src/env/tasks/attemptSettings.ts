import type { Quarantine } from './quarantine.js';

/** What trying a candidate is told. */
export interface AttemptSettings {
  readonly seed: number;
  /** How often each tree's tests are run. */
  readonly validationRuns: number;
  /** About how long one run of a task's tests may take. */
  readonly gradingMs: number;
  /** For one run of the tests. */
  readonly timeoutMs: number;
  /** Learns which tests waver. */
  readonly quarantine: Quarantine;
  readonly signal?: AbortSignal;
}
