import { createRun } from '../../src/trainer/run/createRun.js';
import type { RunPaths } from '../../src/trainer/run/runDirectory.js';
import { settingsSchema } from '../../src/trainer/run/settings.js';

/** An empty run `bench`, to be filled with what is measured. */
export const createBenchRun = (stateFolder: string, repoRoot: string): Promise<RunPaths> =>
  createRun(stateFolder, {
    version: 1,
    runId: 'bench',
    createdAt: new Date().toISOString(),
    repoRoot,
    headCommit: '0'.repeat(40),
    settings: settingsSchema.parse({}),
    taskIds: { train: [], heldout: [] },
    sandbox: 'bubblewrap',
  });
