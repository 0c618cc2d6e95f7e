import { existsSync } from 'node:fs';
import { openEnvironment } from '../env/openEnvironment.js';
import { buildTasks, defaultBuildOptions } from '../env/tasks/buildTasks.js';
import { readTasks } from '../env/tasks/taskStore.js';
import { badInput, cancelled, WhetstoneError } from '../trajectory/errors.js';
import type { Task } from '../trajectory/task.js';
import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { tasksDealtInStep, tasksOfStep } from './data/curriculum.js';
import { Doctor } from './doctor/doctor.js';
import { evaluate, evaluationTasks } from './evaluate.js';
import { learnStep } from './learnStep.js';
import { loadPolicy, type Policy } from './loadPolicy.js';
import type { Learner } from './model/policy.js';
import type { Arena } from './rollout/arena.js';
import { environmentArena, samplingOptions } from './rollout/environmentArena.js';
import { rolloutPlans } from './rollout/plans.js';
import { playGroups, type Schedule } from './rollout/playGroups.js';
import { listCheckpoints, writeCheckpoint, type Checkpoint } from './run/checkpoints.js';
import { createRun, settleTasks } from './run/createRun.js';
import type { RunControl } from './run/runControl.js';
import { newRunId, type RunPaths } from './run/runDirectory.js';
import { openRun, type RunReader } from './run/runReader.js';
import type { RunConfig, Stage } from './run/runRecord.js';
import { RunWriter } from './run/runWriter.js';
import type { Settings } from './run/settings.js';
import { acquireTrainLock } from './run/trainLock.js';
import { playDemonstrations } from './warmStart/demonstrations.js';
import { successes, warmStart } from './warmStart/warmStart.js';

type TrainingEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

export interface TrainingOptions {
  readonly repoRoot: string;
  /** Of a new run; a resumed one keeps its own. */
  readonly settings: Settings;
  /** Id of a run to go on with. */
  readonly resume?: string;
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
    const runId = resumed ?? newRunId();
    const lock = await acquireTrainLock(environment.stateFolder, runId);
    cleanups.push(() => lock.release());
    const earlier = resumed === null ? null : await configToResume(environment.stateFolder, resumed);
    const settings = earlier?.settings ?? options.settings;
    const policy = await loadPolicy(settings, environment.repoRoot);
    cleanups.push(() => policy.dispose());
    const reference = settings.klCoefficient > 0 ? await policy.openReference() : null;
    cleanups.push(() => reference?.dispose());
    const config = earlier ?? newConfig(runId, environment, settings);
    if (earlier === null) await createRun(environment.stateFolder, config);
    const reader = openRun(environment.stateFolder, runId);
    const writer = new RunWriter(reader.paths, options.onChanged);
    cleanups.push(() => writer.close());
    const run = new TrainingRun(environment, policy, reference, config, reader, writer, control);
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

async function configToResume(stateFolder: string, runId: string): Promise<RunConfig> {
  const reader = openRun(stateFolder, runId);
  const last = (await reader.events()).at(-1);
  if (last?.type === 'finished' && last.status === 'completed') {
    throw badInput(`Run ${runId} is completed: there is nothing to resume.`, 'Start a new one.');
  }
  return reader.config();
}

function newConfig(runId: string, environment: TrainingEnvironment, settings: Settings): RunConfig {
  return {
    version: 1,
    runId,
    createdAt: new Date().toISOString(),
    repoRoot: environment.repoRoot,
    headCommit: environment.repository.headCommit,
    settings,
    taskIds: { train: [], heldout: [] },
    sandbox: environment.sandbox,
  };
}

/** The stages of one run. Its only memory beside the weights is the record, so it can begin anywhere. */
class TrainingRun {
  private readonly arena: Arena;
  private readonly settings: Settings;
  private tasks: readonly Task[] = [];
  /** Optimizer steps behind the present weights, and whether a checkpoint holds them. */
  private step = 0;
  private saved: Checkpoint | null = null;
  private lastReward: number | null = null;
  private doctor: Doctor | null = null;

  constructor(
    private readonly environment: TrainingEnvironment,
    private readonly policy: Policy,
    private readonly reference: Learner | null,
    private config: RunConfig,
    private readonly reader: RunReader,
    private readonly writer: RunWriter,
    private readonly control: RunControl,
  ) {
    this.settings = config.settings;
    this.arena = environmentArena(environment, config.settings);
    control.onPauseChanged = (paused) => this.recordPause(paused);
  }

  async run(resumed: boolean): Promise<void> {
    try {
      if (resumed) await this.restore();
      this.writer.event({ type: 'started', pid: process.pid, resumedFromStep: resumed ? this.step : null });
      await this.stages();
      this.writer.event({ type: 'finished', status: 'completed', message: 'Training is completed.' });
    } catch (error) {
      await this.recordEnd(error);
      throw error;
    }
  }

  private async stages(): Promise<void> {
    this.stage('tasks');
    this.tasks = await this.settledTasks();
    this.stage('evaluate-before');
    await this.evaluateOnce(0);
    await this.warmStartOnce();
    this.stage('train');
    this.doctor = await this.doctorUpToDate();
    while (this.step < this.settings.steps) {
      await this.trainStep(this.step + 1);
      if (this.step % this.settings.checkpointEvery === 0 || this.step === this.settings.steps) await this.save();
    }
    this.stage('evaluate-after');
    await this.evaluateOnce(this.settings.steps);
  }

  private async restore(): Promise<void> {
    const checkpoints = await listCheckpoints(this.reader.paths.checkpoints);
    this.saved = checkpoints.at(-1) ?? null;
    if (this.saved === null) return;
    const warmStarted = checkpoints.find(({ state }) => state.step === 0);
    if (warmStarted !== undefined) await this.reference?.load(warmStarted.folder, { optimizer: false });
    // The warm start's optimizer belongs to another loss: training begins with a fresh one.
    await this.policy.learner.load(this.saved.folder, { optimizer: this.saved.state.step > 0 });
    this.policy.generator.invalidate();
    this.step = this.saved.state.step;
    this.lastReward = this.saved.state.reward;
  }

  private async settledTasks(): Promise<readonly Task[]> {
    if (existsSync(this.reader.paths.tasks)) return this.reader.tasks();
    const tasks = await this.storedOrBuiltTasks();
    this.config = await settleTasks(this.reader.paths, this.config, tasks);
    if (this.config.taskIds.train.length === 0) {
      throw badInput('No task is left to train on.', 'See `whetstone tasks build` for what became of the candidates.');
    }
    return tasks;
  }

  private async storedOrBuiltTasks(): Promise<readonly Task[]> {
    const stored = await readTasks(this.environment.stateFolder).catch(() => null);
    if (stored !== null) return stored;
    const { seed } = this.settings;
    const built = await buildTasks(
      this.environment,
      { ...defaultBuildOptions, seed },
      {
        signal: this.control.signal,
        onProgress: ({ message, done, total }) => this.progress('tasks', message, done, total),
      },
    );
    return built.tasks;
  }

  /** Plays the held-out tasks with the weights after `step` steps, unless the record has the result. */
  private async evaluateOnce(step: number): Promise<void> {
    const done = (await this.reader.evaluations()).some((event) => event.step === step && event.split === 'heldout');
    const tasks = evaluationTasks(this.tasks, 'heldout', this.settings);
    // Weights that have moved on cannot be evaluated any more.
    if (done || tasks.length === 0 || this.step !== step) return;
    const total = tasks.length * this.settings.evaluationSamples;
    const stage = step === 0 ? 'evaluate-before' : 'evaluate-after';
    const evaluation = await evaluate(
      this.player(),
      this.arena,
      this.tasks,
      'heldout',
      this.settings,
      this.schedule(stage, 'Held-out tasks', total),
      (id) => this.reader.findTrajectory(id),
    );
    this.writer.event({ type: 'evaluation', ...evaluation });
  }

  /**
   * Learns from an expert's episodes of the train tasks. Only its end is kept, as the checkpoint of step 0: a run that is
   * killed meanwhile begins it anew, from demonstrations that are recorded.
   */
  private async warmStartOnce(): Promise<void> {
    const { settings, policy } = this;
    if (settings.warmStartEpochs === 0 || this.saved !== null) return;
    this.stage('warm-start');
    const train = new Set(this.config.taskIds.train);
    const tasks = this.tasks.filter(({ instance_id }) => train.has(instance_id));
    const demonstrations = await playDemonstrations(
      this.arena,
      policy.codec,
      tasks,
      policy.generator.maxContext,
      samplingOptions(settings, 'rollout'),
      this.schedule('warm-start', "The expert's episodes", tasks.length),
      (id) => this.reader.findTrajectory(id),
    );
    for await (const { update, updates, metrics } of warmStart(policy.learner, successes(demonstrations), settings)) {
      if (this.control.signal.aborted) throw cancelled();
      await this.control.gate();
      this.writer.event({ type: 'warm-start', update, updates, metrics });
      this.progress('warm-start', 'Learning from them', update, updates);
    }
    policy.generator.invalidate();
    await this.save();
    // Training goes on as a resumed one would.
    await this.restore();
  }

  private async trainStep(step: number): Promise<void> {
    const { settings } = this;
    const started = performance.now();
    const { train } = this.config.taskIds;
    const byId = new Map(this.tasks.map((task) => [task.instance_id, task]));
    const tasks = tasksOfStep(train, settings.tasksPerStep, step, settings.seed).map((id) => byId.get(id)!);
    const plans = rolloutPlans(tasks, step, settings.groupSize, settings.seed);
    const trajectories = await playGroups(
      this.player(),
      this.arena,
      plans,
      samplingOptions(settings, 'rollout'),
      this.schedule('train', `Step ${step} of ${settings.steps}`, plans.length),
      (id) => this.reader.findTrajectory(id),
    );
    const played = performance.now();
    const groups = tasks.map((_, index) =>
      trajectories.slice(index * settings.groupSize, (index + 1) * settings.groupSize),
    );
    const { metrics, advantages, learned } = await learnStep(
      this.policy.learner,
      this.reference,
      groups,
      settings,
      step,
    );
    this.policy.generator.invalidate();
    this.step = step;
    this.lastReward = metrics.reward;
    for (const tokens of learned) this.writer.learned(tokens);
    this.writer.event({
      type: 'step',
      step,
      metrics: {
        ...metrics,
        num_tokens:
          (await this.tokensBefore(step)) + trajectories.reduce((sum, t) => sum + t.statistics.totalTokens, 0),
        'timing/rollout': (played - started) / 1000,
        'timing/learn': (performance.now() - played) / 1000,
        step_time: (performance.now() - started) / 1000,
      },
      groups: groups.map((group, index) => ({
        taskId: tasks[index].instance_id,
        trajectoryIds: group.map(({ id }) => id),
        advantages: advantages[index],
      })),
    });
    await this.examine(trajectories, learned);
  }

  /** Knows the metrics of the steps behind the present weights; null where no doctor is wanted. */
  private async doctorUpToDate(): Promise<Doctor | null> {
    if (this.settings.doctor === 'off') return null;
    const doctor = new Doctor(this.config);
    for (const event of await this.reader.steps()) if (event.step <= this.step) doctor.onStep(event);
    return doctor;
  }

  /** Records what the doctor finds now and had not found before; pauses at what makes going on useless, where that is wanted. */
  private async examine(trajectories: readonly Trajectory[], learned: readonly LearnedTokens[]): Promise<void> {
    if (this.doctor === null) return;
    const learnedOf = new Map(learned.map((tokens) => [tokens.trajectoryId, tokens]));
    for (const trajectory of trajectories) this.doctor.onTrajectory(trajectory, learnedOf.get(trajectory.id) ?? null);
    const event = (await this.reader.steps()).find(({ step }) => step === this.step);
    if (event) this.doctor.onStep(event);
    const events = await this.reader.events();
    const known = new Set(events.flatMap((one) => (one.type === 'finding' ? [one.finding.mode] : [])));
    const news = this.doctor.findings().filter(({ mode }) => !known.has(mode));
    for (const finding of news) this.writer.event({ type: 'finding', step: this.step, finding });
    const isCritical = news.some(({ severity }) => severity === 'critical');
    if (isCritical && this.settings.doctor === 'pause') this.control.pause();
  }

  private async save(): Promise<void> {
    const state = {
      version: 1 as const,
      step: this.step,
      seed: this.settings.seed,
      curriculumCursor: this.step * tasksDealtInStep(this.config.taskIds.train.length, this.settings.tasksPerStep),
      reward: this.lastReward,
    };
    this.saved = await writeCheckpoint(this.reader.paths.checkpoints, state, (folder) =>
      this.policy.learner.save(folder, { optimizer: true }),
    );
    this.writer.event({ type: 'checkpoint', step: this.step, folder: this.saved.folder });
  }

  /** A stop comes between updates, so the weights are those of a whole step and worth keeping. */
  private async recordEnd(error: unknown): Promise<void> {
    const stopped = this.control.signal.aborted;
    try {
      if (stopped) {
        if (isCancellation(error) && this.step > (this.saved?.state.step ?? 0)) await this.save();
        this.writer.event({ type: 'finished', status: 'stopped', message: `Stopped after step ${this.step}.` });
      } else {
        const known = error instanceof WhetstoneError ? error : null;
        const message = known?.line ?? `internal: ${(error as Error).message}`;
        this.writer.event({ type: 'finished', status: 'failed', message, errorKind: known?.kind ?? 'failed' });
      }
    } catch {
      // The disk may be what failed; the first error is the one to tell.
    }
  }

  private recordPause(paused: boolean): void {
    try {
      this.writer.event({ type: paused ? 'paused' : 'resumed' });
    } catch {
      // A disk that fails will fail the next trajectory too, and there it ends the run.
    }
  }

  private player() {
    return { generator: this.policy.generator, codec: this.policy.codec, policyStep: this.step };
  }

  private schedule(stage: Stage, message: string, total: number): Schedule {
    let done = 0;
    return {
      concurrency: this.settings.deterministic ? 1 : this.settings.concurrency,
      signal: this.control.signal,
      gate: () => this.control.gate(),
      onTrajectory: (trajectory) => {
        this.writer.trajectory(trajectory);
        this.progress(stage, message, ++done, total);
      },
    };
  }

  private async tokensBefore(step: number): Promise<number> {
    return (await this.reader.steps()).find((event) => event.step === step - 1)?.metrics.num_tokens ?? 0;
  }

  private stage(stage: Stage): void {
    if (this.control.signal.aborted) throw cancelled();
    this.writer.event({ type: 'stage', stage });
  }

  private progress(stage: Stage, message: string, done: number, total: number): void {
    this.writer.event({ type: 'progress', stage, message, done, total });
  }
}

const isCancellation = (error: unknown) => error instanceof WhetstoneError && error.kind === 'cancelled';
