import type { RepositoryEnvironment } from '../../environment.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { Baseline } from '../baseline.js';
import type { ImportGraph } from '../selection/importGraph.js';
import type { PackageUnit } from './packageUnits.js';

export interface ReachSettings {
  /** For one run of the tests. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** What a package is proven with. `tree`: a sound tree to look around in. */
export interface Parts {
  readonly environment: RepositoryEnvironment;
  readonly baseline: Baseline;
  readonly graph: ImportGraph;
  readonly units: readonly PackageUnit[];
  readonly tree: Workspace;
  readonly settings: ReachSettings;
}
