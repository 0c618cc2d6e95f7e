import type { openEnvironment } from '../env/openEnvironment.js';
import { applyPatch } from '../env/tools/applyPatch.js';
import { cancelled, WhetstoneError } from '../trajectory/errors.js';
import type { Task } from '../trajectory/task.js';
import type { LearnedTokens, Trajectory } from '../trajectory/trajectory.js';
import { tasksDealtInStep } from './data/curriculum.js';
import { recordedGroups } from './data/recordedGroups.js';
import { chooseReplay } from './data/replay.js';
import { isEndOfStage, stageOfStep } from './data/stages.js';
import { planStep } from './data/stepPlan.js';
import { readDemonstrations } from './demonstrations/demonstrationsRun.js';
import { Doctor } from './doctor/doctor.js';
import { evaluate, evaluationTasks } from './evaluate.js';
import { imitationStep } from './imitationStep.js';
import { learnStep, type LearnedStep } from './learnStep.js';
import { shapedReward } from './lessons.js';
import type { Policy } from './loadPolicy.js';
import { embeddedModelFolder } from './model/checkpoint.js';
import type { Learner } from './model/policy.js';
import { playStep, type PlayedGroup } from './playStep.js';
import { preferenceStep } from './preferenceStep.js';
import type { Arena } from './rollout/arena.js';
import { environmentArena, samplingOptions } from './rollout/environmentArena.js';
import { negativePlans } from './rollout/plans.js';
import { playGroups, type Schedule } from './rollout/playGroups.js';
import { isReference, listCheckpoints, writeCheckpoint, type Checkpoint } from './run/checkpoints.js';
import { keepWithinBudget } from './run/diskBudget.js';
import type { StageSettings } from './run/routeSettings.js';
import type { RunControl } from './run/runControl.js';
import type { RunReader } from './run/runReader.js';
import type { ReplayedGroup, RunConfig, Stage } from './run/runRecord.js';
import type { RunWriter } from './run/runWriter.js';
import { learningRateShare } from './run/learnerSettings.js';
import type { Settings } from './run/settings.js';
import { settledTasks } from './settledTasks.js';
import { workerArena, type Workers } from './workers/workerArena.js';
import { takeOver } from './takeOver.js';
import { playDemonstrations } from './warmStart/demonstrations.js';
import { personScripts, type PersonScript } from './warmStart/personScripts.js';
import { failures, successes, warmStart } from './warmStart/warmStart.js';

export type TrainingEnvironment = Awaited<ReturnType<typeof openEnvironment>>;

/** The stages of one run. Its only memory beside the weights is the record, so it can begin anywhere. */
export class TrainingRun {
  private readonly arena: Arena;
  /** Where the expert plays, who looks at the trees. */
  private readonly ownArena: Arena;
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
    private readonly workers: Workers | null,
  ) {
    this.settings = config.settings;
    this.ownArena = environmentArena(environment, config.settings, policy.codec.toolFormat.example);
    this.arena = this.arenaFor(config.settings);
    control.onPauseChanged = (paused) => this.recordPause(paused);
  }

  private arenaFor(settings: Settings): Arena {
    const { example } = this.policy.codec.toolFormat;
    return this.workers === null
      ? environmentArena(this.environment, settings, example)
      : workerArena(this.workers, settings, example);
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
    const settled = await settledTasks(
      this.environment,
      this.config,
      this.reader,
      this.control.signal,
      (message, done, total) => this.progress('tasks', message, done, total),
    );
    this.tasks = settled.tasks;
    this.config = settled.config;
    this.stage('evaluate-before');
    await this.evaluateOnce(0);
    await this.warmStartOnce();
    this.stage('train');
    if (this.step === 0) await this.takeOverRecorded();
    this.doctor = await this.doctorUpToDate();
    while (this.step < this.settings.steps) {
      await this.trainStep(this.step + 1);
      const isEnd = isEndOfStage(this.settings, this.step);
      if (this.step % this.settings.checkpointEvery === 0 || isEnd) await this.save();
      // The next stage goes on as a resumed one would.
      if (isEnd && this.step < this.settings.steps) await this.restore();
    }
    this.stage('evaluate-after');
    await this.evaluateOnce(this.settings.steps);
  }

  /** What stages learn from other runs is the run's own before its first step. */
  private async takeOverRecorded(): Promise<void> {
    const { stateFolder } = this.environment;
    for (const stage of this.settings.stages) {
      if (!('from' in stage) || stage.from === undefined) continue;
      const trajectories = takeOver(stage.from, {
        stateFolder,
        reader: this.reader,
        trainTasks: new Set(this.config.taskIds.train),
        codec: this.policy.codec,
        embeddedModel: embeddedModelFolder,
      });
      for await (const trajectory of trajectories) {
        if (this.control.signal.aborted) throw cancelled();
        this.writer.trajectory(trajectory);
      }
    }
  }

  /** Goes back to the newest checkpoint, and takes as the reference the weights that the stage began with. */
  private async restore(): Promise<void> {
    const checkpoints = await listCheckpoints(this.reader.paths.checkpoints);
    this.saved = checkpoints.at(-1) ?? null;
    if (this.saved === null) return;
    const { step, reward } = this.saved.state;
    const began = checkpoints.filter((one) => isReference(one) && one.state.step <= step).at(-1);
    if (began !== undefined) await this.reference?.load(began.folder, { optimizer: false });
    // The optimizer of a stage that is over belongs to another loss: the next one begins with a fresh one.
    await this.policy.learner.load(this.saved.folder, { optimizer: !isReference(this.saved) });
    this.policy.generator.invalidate();
    this.step = step;
    this.lastReward = reward;
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

  /** Learns from an expert's episodes of the train tasks, and from people's; a run that is killed meanwhile goes on from the last checkpoint. */
  private async warmStartOnce(): Promise<void> {
    const { settings, policy } = this;
    const isOver = this.saved !== null && this.saved.state.warmStartUpdates === undefined;
    if (settings.warmStartEpochs === 0 || isOver) return;
    this.stage('warm-start');
    const tasks = [...this.trainTasks().values()];
    const people = await this.personScripts(tasks);
    const demonstrations = await playDemonstrations(
      this.ownArena,
      policy.codec,
      tasks,
      people,
      policy.generator.maxContext,
      samplingOptions({ ...settings, workers: [] }, 'rollout'),
      this.schedule('warm-start', "The expert's episodes", tasks.length + people.length),
      (id) => this.reader.findTrajectory(id),
    );
    const updates = warmStart(
      policy.learner,
      successes(demonstrations),
      settings,
      await this.negativeExamples(tasks),
      this.saved?.state.warmStartUpdates ?? 0,
    );
    for await (const { update, updates: all, metrics } of updates) {
      this.writer.event({ type: 'warm-start', update, updates: all, metrics });
      this.progress('warm-start', 'Learning from them', update, all);
      if (update < all && update % settings.checkpointEvery === 0) await this.save(update);
      if (this.control.signal.aborted) throw cancelled();
      await this.control.gate();
    }
    policy.generator.invalidate();
    await this.save();
    // Training goes on as a resumed one would.
    await this.restore();
  }

  /** What people demonstrated in these tasks; once an update is made, only what the run has recorded by then. */
  private async personScripts(tasks: readonly Task[]): Promise<readonly PersonScript[]> {
    const ids = new Set(tasks.map(({ instance_id }) => instance_id));
    const demonstrations = await readDemonstrations(this.environment.stateFolder, ids);
    const scripts = personScripts(demonstrations, tasks, this.policy.codec);
    if (this.saved?.state.warmStartUpdates === undefined) return scripts;
    const recorded = new Set((await this.reader.headers()).map(({ id }) => id));
    return scripts.filter(({ plan }) => recorded.has(plan.id));
  }

  /** The starting policy's own failures on the train tasks. All of them are recorded before the first update. */
  private async negativeExamples(tasks: readonly Task[]): Promise<readonly Trajectory[]> {
    const { settings } = this;
    if (settings.warmStartNegativeWeight === 0) return [];
    const rollouts = await playGroups(
      this.player(),
      this.arena,
      negativePlans(tasks, settings.seed),
      samplingOptions(settings, 'rollout'),
      this.schedule('warm-start', 'Negative examples', tasks.length),
      (id) => this.reader.findTrajectory(id),
    );
    return failures(rollouts);
  }

  private async trainStep(step: number): Promise<void> {
    const started = performance.now();
    const stage = stageOfStep(this.settings, step).settings;
    const history = await this.reader.steps();
    const replayed = stage.method === 'policy-gradient' ? chooseReplay(history, step, this.settings.replay) : [];
    const groups = await this.groupsOfStep(step, stage, replayed);
    const played = performance.now();
    const again = await Promise.all(replayed.map(({ trajectoryIds }) => this.recorded(trajectoryIds)));
    const { metrics, advantages, learned } = await this.learn(step, stage, groups, again);
    this.policy.generator.invalidate();
    this.step = step;
    this.lastReward = metrics.reward ?? null;
    for (const tokens of learned) this.writer.learned(tokens);
    const trajectories = isPlayed(stage) ? groups.flatMap((group) => group.trajectories) : [];
    const tokensBefore = history.find((event) => event.step === step - 1)?.metrics.num_tokens ?? 0;
    this.writer.event({
      type: 'step',
      step,
      method: stage.method,
      metrics: {
        ...metrics,
        num_tokens: tokensBefore + trajectories.reduce((sum, { statistics }) => sum + statistics.totalTokens, 0),
        'timing/rollout': (played - started) / 1000,
        'timing/learn': (performance.now() - played) / 1000,
        step_time: (performance.now() - started) / 1000,
      },
      groups: groups.map((group, index) => ({ ...outcomeOf(group, this.settings), advantages: advantages[index] })),
      ...(replayed.length > 0 && {
        replayed: replayed.map((group, index) => ({ ...group, advantages: advantages[groups.length + index] })),
      }),
    });
    await this.examine(trajectories, learned);
  }

  /** Plays what the step's plan says, or reads what was recorded of its tasks; tells the plan first. */
  private async groupsOfStep(
    step: number,
    stage: StageSettings,
    replayed: readonly ReplayedGroup[],
  ): Promise<PlayedGroup[]> {
    const { settings } = this;
    const plan = planStep(this.config.taskIds.train, await this.reader.steps(), settings, step);
    const { temperature, maxTurns } = plan;
    const onRound = (round: number, tasks: typeof plan.tasks) =>
      this.writer.event({
        type: 'plan',
        step,
        round,
        method: stage.method,
        temperature,
        maxTurns,
        tasks,
        replayed: round === 0 ? replayed : [],
      });
    if (!isPlayed(stage)) {
      onRound(0, plan.tasks);
      return this.recordedGroupsOf(
        plan.tasks.map(({ taskId }) => taskId),
        step,
      );
    }
    const arena = this.arenaFor({ ...settings, maxTurns });
    const options = samplingOptions({ ...settings, temperature }, 'rollout');
    const isDynamic = stage.method === 'policy-gradient';
    return playStep(plan, this.trainTasks(), settings, isDynamic, {
      onRound,
      play: (plans) =>
        playGroups(
          this.player(),
          arena,
          plans,
          options,
          this.schedule('train', `Step ${step} of ${settings.steps}`, plans.length),
          (id) => this.reader.findTrajectory(id),
        ),
    });
  }

  private learn(
    step: number,
    chosen: StageSettings,
    groups: readonly PlayedGroup[],
    replayed: readonly (readonly Trajectory[])[],
  ): Promise<LearnedStep> {
    const { settings, stage } = this.scheduled(step, chosen);
    const { reference } = this;
    const { learner, codec } = this.policy;
    const trajectories = groups.map((group) => group.trajectories);
    if (stage.method === 'rejection-sampling') return imitationStep(learner, trajectories, stage, settings, step);
    if (stage.method !== 'policy-gradient') {
      return preferenceStep(learner, reference, trajectories, stage, settings, step);
    }
    const ofStage = { ...settings, learningRate: stage.learningRate ?? settings.learningRate };
    return learnStep(learner, settings.klCoefficient > 0 ? reference : null, trajectories, ofStage, step, {
      replayed,
      oracleTurn: (taskId) => {
        const call = {
          id: 'oracle',
          name: applyPatch.name,
          arguments: { patch: this.trainTasks().get(taskId)!.patch },
        };
        return codec.encodeMessage({ role: 'assistant', content: '', toolCalls: [call], raw: '' });
      },
    });
  }

  /** The settings and the stage with the learning rate of the step. */
  private scheduled(step: number, stage: StageSettings): { settings: Settings; stage: StageSettings } {
    const { optimizer, steps } = this.settings;
    const share = learningRateShare(optimizer, steps, step);
    const scaled = <T extends { readonly learningRate?: number }>(one: T): T =>
      one.learningRate === undefined ? one : { ...one, learningRate: one.learningRate * share };
    return { settings: scaled(this.settings), stage: scaled(stage) };
  }

  /** What the run has recorded of the tasks before the step. */
  private async recordedGroupsOf(taskIds: readonly string[], step: number): Promise<PlayedGroup[]> {
    const headers = await this.reader.headers();
    const groups = taskIds.flatMap((taskId) => recordedGroups(headers, taskId, step, 4 * this.settings.groupSize));
    return Promise.all(
      groups.map(async ({ taskId, trajectoryIds }) => ({ taskId, trajectories: await this.recorded(trajectoryIds) })),
    );
  }

  private recorded(ids: readonly string[]): Promise<Trajectory[]> {
    return Promise.all(ids.map((id) => this.reader.trajectory(id)));
  }

  /** By id. No held-out task is among them, whatever else is asked of the run. */
  private trainTasks(): ReadonlyMap<string, Task> {
    const train = new Set(this.config.taskIds.train);
    return new Map(
      this.tasks.filter(({ instance_id }) => train.has(instance_id)).map((task) => [task.instance_id, task]),
    );
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

  /** @param warmStartUpdates of a warm start that is not over */
  private async save(warmStartUpdates?: number): Promise<void> {
    const { checkpoints: kept, steps } = this.settings;
    const state = {
      version: 1 as const,
      step: this.step,
      seed: this.settings.seed,
      curriculumCursor: this.step * tasksDealtInStep(this.config.taskIds.train.length, this.settings.tasksPerStep),
      reward: this.lastReward,
      ...(warmStartUpdates !== undefined && { warmStartUpdates }),
      ...(this.step > 0 && isEndOfStage(this.settings, this.step) && { stageEnd: true }),
    };
    const { paths } = this.reader;
    this.saved = await writeCheckpoint(
      paths.checkpoints,
      state,
      (folder) => this.policy.learner.save(folder, { optimizer: true }),
      kept,
    );
    this.writer.event({ type: 'checkpoint', step: this.step, folder: this.saved.folder });
    await keepWithinBudget(paths, kept.diskGigabytes, this.step === steps);
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

  private stage(stage: Stage): void {
    if (this.control.signal.aborted) throw cancelled();
    this.writer.event({ type: 'stage', stage });
  }

  private progress(stage: Stage, message: string, done: number, total: number): void {
    this.writer.event({ type: 'progress', stage, message, done, total });
  }
}

const isCancellation = (error: unknown) => error instanceof WhetstoneError && error.kind === 'cancelled';

/** Whether the steps of a stage play rollouts, or learn from recorded ones. */
const isPlayed = (stage: StageSettings) => !('recorded' in stage && stage.recorded);

/** What the record of a step says of a group, beside its advantages. */
function outcomeOf({ taskId, trajectories }: PlayedGroup, settings: Settings) {
  return {
    taskId,
    trajectoryIds: trajectories.map(({ id }) => id),
    rewards: trajectories.map((trajectory) => shapedReward(trajectory, settings)),
    played: trajectories.filter(({ grade }) => grade !== null).length,
    resolved: trajectories.filter(({ grade }) => grade?.resolved).length,
  };
}
