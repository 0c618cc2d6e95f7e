import { openEnvironment } from '../env/openEnvironment.js';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import { playsAhead } from './data/playedAhead.js';
import { needsReference, stagePlans } from './data/stages.js';
import { loadPolicy } from './loadPolicy.js';
import { testMemoryOf } from './rollout/testMemory.js';
import { createRun, writeConfig } from './run/createRun.js';
import { changedSettings, type ResumeChanges, type SettingChange } from './run/resumeChanges.js';
import type { RunControl } from './run/runControl.js';
import { nextRunId, type RunPaths } from './run/runDirectory.js';
import { openRun } from './run/runReader.js';
import type { RunConfig } from './run/runRecord.js';
import { RunWriter } from './run/runWriter.js';
import type { Settings } from './run/settings.js';
import { acquireTrainLock } from './run/trainLock.js';
import { openWorkers } from './workers/openWorkers.js';
import { sandboxOf } from './workers/workerArena.js';
import type { TrainingEnvironment } from './training/trainingParts.js';
import { TrainingRun } from './trainingRun.js';

export interface TrainingOptions {
  readonly repoRoot: string;
  /** Of a new run; a resumed one keeps its own. */
  readonly settings: Settings;
  /** Id of a run to go on with. */
  readonly resume?: string;
  /** What the resumed run does otherwise from here on. */
  readonly changes?: ResumeChanges;
  readonly control: RunControl;
  /** Called after everything that is written to the run directory. */
  readonly onChanged?: () => void;
}

/** A training that has all it needs: its repository, its policy, the lock, and its run directory. */
export interface Training {
  readonly runId: string;
  readonly stateFolder: string;
  readonly paths: RunPaths;
  /**
   * Trains to the end and records it, also where it fails or is stopped. Throws what made it fail; where it was stopped
   * by its control, `cancelled`.
   */
  run(): Promise<void>;
  dispose(): Promise<void>;
}

/** Opens everything that a training needs. What is wrong with the user's input shows here, before anything runs. */
export async function openTraining(options: TrainingOptions): Promise<Training> {
  const { repoRoot, control, resume } = options;
  const cleanups: (() => Promise<void> | void)[] = [];
  const dispose = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    const resumed = resume === undefined ? null : resume;
    const environment = await openEnvironment({
      path: repoRoot,
      sandbox: options.settings.sandbox,
      signal: control.signal,
    });
    cleanups.push(() => environment.dispose());
    const runId = resumed ?? (await nextRunId(environment.stateFolder));
    const lock = await acquireTrainLock(environment.stateFolder, runId);
    cleanups.push(() => lock.release());
    const recorded = resumed === null ? null : await configToResume(environment.stateFolder, resumed);
    const { config: earlier, changes } = withChanges(recorded, options.changes);
    const settings = earlier?.settings ?? options.settings;
    checkConstrained(settings);
    let writer: RunWriter | null = null;
    const notice = (message: string) => writer?.event({ type: 'notice', message });
    const workers = settings.workers.length === 0 ? null : await openWorkers(settings.workers, notice, control.signal);
    const policy = await loadPolicy(settings, environment.repoRoot, control.signal, playsAhead(settings));
    cleanups.push(() => policy.dispose());
    const reference = needsReference(settings) ? await policy.openReference() : null;
    cleanups.push(() => reference?.dispose());
    const sandbox = workers === null ? environment.sandbox : sandboxOf(workers);
    const config = earlier ?? newConfig(runId, environment, { ...settings, model: policy.model }, sandbox);
    if (earlier === null) await createRun(environment.stateFolder, config);
    const reader = openRun(environment.stateFolder, runId);
    const opened = new RunWriter(reader.paths, options.onChanged);
    writer = opened;
    cleanups.push(() => opened.close());
    if (changes.length > 0) {
      await writeConfig(reader.paths, config);
      opened.event({ type: 'changed', changes });
    }
    const testMemory = testMemoryOf(settings);
    const parts = { environment, workers, testMemory, policy, reference, reader, writer: opened, control };
    const run = new TrainingRun(parts, config);
    return {
      runId,
      stateFolder: environment.stateFolder,
      paths: reader.paths,
      run: () => run.run(earlier !== null),
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** Said before anything is played, and not at the first update. */
function checkConstrained(settings: Settings): void {
  if (!settings.constrainedCalls || settings.steps === 0) return;
  if (!stagePlans(settings).some(({ settings: stage }) => stage.method === 'policy-gradient')) return;
  throw badInput(
    'Setting `constrainedCalls`: the policy gradient cannot learn from rollouts that a grammar constrained.',
    'Leave it out, or learn with stages of rejection-sampling or preferences alone.',
  );
}

async function configToResume(stateFolder: string, runId: string): Promise<RunConfig> {
  const reader = openRun(stateFolder, runId);
  const last = (await reader.events()).at(-1);
  if (last?.type === 'finished' && last.status === 'completed') {
    throw badInput(say`Run ${runId} is completed: there is nothing to resume.`, 'Start a new one.');
  }
  return reader.config();
}

function withChanges(
  recorded: RunConfig | null,
  wished: ResumeChanges = {},
): { config: RunConfig | null; changes: readonly SettingChange[] } {
  if (recorded === null) return { config: null, changes: [] };
  const { settings, changes } = changedSettings(recorded.settings, wished);
  return { config: { ...recorded, settings }, changes };
}

function newConfig(runId: string, environment: TrainingEnvironment, settings: Settings, sandbox: string): RunConfig {
  return {
    version: 1,
    runId,
    createdAt: new Date().toISOString(),
    repoRoot: environment.repoRoot,
    headCommit: environment.repository.headCommit,
    settings,
    taskIds: { train: [], heldout: [] },
    sandbox,
  };
}
