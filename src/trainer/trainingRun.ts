import { cancelled } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';
import type { Trajectory } from '../trajectory/trajectory.js';
import { playsAhead, policyStepOf } from './data/playedAhead.js';
import { stagePlans } from './data/stages.js';
import { readDemonstrations } from './demonstrations/demonstrationsRun.js';
import { evaluate, evaluationTasks } from './evaluate.js';
import { embeddedModelFolder } from './model/checkpoint.js';
import type { Weights } from './model/playedWeights.js';
import type { Arena } from './rollout/arena.js';
import { environmentArena, samplingOptions } from './rollout/environmentArena.js';
import { negativePlans } from './rollout/plans.js';
import { playGroups } from './rollout/playGroups.js';
import type { RunConfig } from './run/runRecord.js';
import type { Settings } from './run/settings.js';
import { settledTasks } from './settledTasks.js';
import { takeOver } from './takeOver.js';
import { RolloutsAhead } from './training/rolloutsAhead.js';
import { TrainingDoctor } from './training/trainingDoctor.js';
import { arenaOf, type TrainingParts } from './training/trainingParts.js';
import { TrainingRecord } from './training/trainingRecord.js';
import { TrainingStep, type PlayedStep } from './training/trainingStep.js';
import { TrainingWeights } from './training/trainingWeights.js';
import { playDemonstrations } from './warmStart/demonstrations.js';
import { personScripts, type PersonScript } from './warmStart/personScripts.js';
import { failures, successes, warmStart } from './warmStart/warmStart.js';

/** The stages of one run. Its only memory beside the weights is the record, so it can begin anywhere. */
export class TrainingRun {
  private readonly arena: Arena;
  /** Where the expert plays, who looks at the trees. */
  private readonly ownArena: Arena;
  private readonly settings: Settings;
  private readonly record: TrainingRecord;
  private readonly weights: TrainingWeights;
  private tasks: readonly Task[] = [];
  /** Whether weights older than the present ones had still to play when the training ended. */
  private isOwed = false;

  constructor(
    private readonly parts: TrainingParts,
    private config: RunConfig,
  ) {
    this.settings = config.settings;
    this.ownArena = environmentArena(parts.environment, config.settings, parts.policy.codec.toolFormat.example);
    this.arena = arenaOf(parts, config.settings);
    this.record = new TrainingRecord(parts.writer, parts.control, config.settings);
    this.weights = new TrainingWeights(parts, config.settings);
  }

  async run(resumed: boolean): Promise<void> {
    const { weights, parts } = this;
    try {
      if (resumed) await weights.restore();
      parts.writer.event({ type: 'started', pid: process.pid, resumedFromStep: resumed ? weights.step : null });
      await this.stages();
      parts.writer.event({ type: 'finished', status: 'completed', ...say`Training is completed.` });
    } catch (error) {
      await this.record.end(error, weights.step, async () => {
        // From weights whose older ones still had to play, the run would not go on the same way.
        if (weights.isAhead && !this.isOwed) await this.save();
      });
      throw error;
    }
  }

  private async stages(): Promise<void> {
    const { settings, parts, record, weights } = this;
    record.stage('tasks');
    const settled = await settledTasks(
      parts.environment,
      this.config,
      parts.reader,
      parts.control.signal,
      (said, done, total) => record.progress('tasks', said, done, total),
    );
    this.tasks = settled.tasks;
    this.config = settled.config;
    record.stage('evaluate-before');
    await this.evaluateOnce(0);
    await this.warmStartOnce();
    record.stage('train');
    if (weights.step === 0) await this.takeOverRecorded();
    const doctor = await TrainingDoctor.upTo(weights.step, this.config, parts);
    const steps = new TrainingStep(parts, this.config, record, this.trainTasks());
    for (const { lastStep } of stagePlans(settings)) {
      if (weights.step >= lastStep) continue;
      await this.trainUpTo(lastStep, steps, doctor);
      // The next stage goes on as a resumed one would.
      if (lastStep < settings.steps) await weights.restore();
    }
    record.stage('evaluate-after');
    await this.evaluateOnce(settings.steps);
  }

  /** The steps of a stage that are left. Nothing is played for the next one, which begins with other weights. */
  private async trainUpTo(lastStep: number, steps: TrainingStep, doctor: TrainingDoctor | null): Promise<void> {
    const { settings, parts, weights } = this;
    const { policy, control } = parts;
    const rollouts = new RolloutsAhead<Weights, PlayedStep>({
      firstStep: weights.step + 1,
      lastStep,
      policyStepOf: (step) => policyStepOf(settings, step),
      play: (step, policyStep, kept, signal) => {
        policy.played.use(kept);
        return steps.play(step, policyStep, signal);
      },
      signal: control.signal,
    });
    let waited = 0;
    const waitFor = async <T>(what: Promise<T>): Promise<T> => {
      const began = performance.now();
      const got = await what;
      waited += (performance.now() - began) / 1000;
      return got;
    };
    try {
      while (weights.step < lastStep) {
        const step = weights.step + 1;
        rollouts.publish(weights.step, () => policy.played.keep());
        const played = await waitFor(rollouts.take(step));
        // For what is played ahead nobody has waited yet while the run is paused.
        if (playsAhead(settings)) await control.gate();
        if (control.signal.aborted) throw cancelled();
        const { reward, trajectories, learned } = await steps.learnFrom(played, waited);
        waited = 0;
        [weights.step, weights.reward] = [step, reward];
        await doctor?.examine(step, trajectories, learned);
        if (step % settings.checkpointEvery !== 0 && step !== lastStep) continue;
        await waitFor(rollouts.settled(step));
        await this.save();
      }
    } finally {
      await rollouts.close();
      this.isOwed = !rollouts.isSettled(weights.step);
    }
    policy.played.use();
  }

  /** What stages learn from other runs is the run's own before its first step. */
  private async takeOverRecorded(): Promise<void> {
    const { environment, reader, writer, policy, control } = this.parts;
    for (const stage of this.settings.stages) {
      if (!('from' in stage) || stage.from === undefined) continue;
      const trajectories = takeOver(stage.from, {
        stateFolder: environment.stateFolder,
        reader,
        trainTasks: new Set(this.config.taskIds.train),
        codec: policy.codec,
        embeddedModel: embeddedModelFolder,
      });
      for await (const trajectory of trajectories) {
        if (control.signal.aborted) throw cancelled();
        writer.trajectory(trajectory);
      }
    }
  }

  /** Plays the held-out tasks with the weights after `step` steps, unless the record has the result. */
  private async evaluateOnce(step: number): Promise<void> {
    const done = (await this.parts.reader.evaluations()).some(
      (event) => event.step === step && event.split === 'heldout',
    );
    const tasks = evaluationTasks(this.tasks, 'heldout', this.settings);
    // Weights that have moved on cannot be evaluated any more.
    if (done || tasks.length === 0 || this.weights.step !== step) return;
    const total = tasks.length * this.settings.evaluationSamples;
    const stage = step === 0 ? 'evaluate-before' : 'evaluate-after';
    const evaluation = await evaluate(
      this.player(),
      this.arena,
      this.tasks,
      'heldout',
      this.settings,
      this.record.schedule(stage, say`Held-out tasks`, total),
      (id) => this.parts.reader.findTrajectory(id),
    );
    this.parts.writer.event({ type: 'evaluation', ...evaluation });
  }

  /** Learns from an expert's episodes of the train tasks, and from people's; a run that is killed meanwhile goes on from the last checkpoint. */
  private async warmStartOnce(): Promise<void> {
    const { settings, parts, record, weights } = this;
    const { policy, control } = parts;
    const isOver = weights.saved !== null && weights.saved.state.warmStartUpdates === undefined;
    if (settings.warmStartEpochs === 0 || isOver) return;
    record.stage('warm-start');
    const tasks = [...this.trainTasks().values()];
    const people = await this.personScripts(tasks);
    const demonstrations = await playDemonstrations(
      this.ownArena,
      policy.codec,
      tasks,
      settings.warmStartExpert,
      people,
      policy.generator.maxContext,
      samplingOptions({ ...settings, workers: [] }, 'rollout'),
      record.schedule('warm-start', say`The expert's episodes`, tasks.length + people.length),
      (id) => parts.reader.findTrajectory(id),
    );
    const solved = successes(demonstrations);
    if (solved.length === 0)
      record.progress('warm-start', say`The expert solved no train task: nothing is learned from it`, 0, 0);
    const updates = warmStart(
      policy.learner,
      solved,
      settings,
      await this.negativeExamples(tasks),
      weights.saved?.state.warmStartUpdates ?? 0,
    );
    for await (const { update, updates: all, metrics } of updates) {
      parts.writer.event({ type: 'warm-start', update, updates: all, metrics });
      record.progress('warm-start', say`Learning from them`, update, all);
      if (update < all && update % settings.checkpointEvery === 0) await this.save(update);
      if (control.signal.aborted) throw cancelled();
      await control.gate();
    }
    policy.played.use();
    await this.save();
    // Training goes on as a resumed one would.
    await weights.restore();
  }

  /** What people demonstrated in these tasks; once an update is made, only what the run has recorded by then. */
  private async personScripts(tasks: readonly Task[]): Promise<readonly PersonScript[]> {
    const ids = new Set(tasks.map(({ instance_id }) => instance_id));
    const demonstrations = await readDemonstrations(this.parts.environment.stateFolder, ids);
    const scripts = personScripts(demonstrations, tasks, this.parts.policy.codec);
    if (this.weights.saved?.state.warmStartUpdates === undefined) return scripts;
    const recorded = await this.parts.reader.ids();
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
      this.record.schedule('warm-start', say`Negative examples`, tasks.length),
      (id) => this.parts.reader.findTrajectory(id),
    );
    return failures(rollouts);
  }

  /** By id. No held-out task is among them, whatever else is asked of the run. */
  private trainTasks(): ReadonlyMap<string, Task> {
    const train = new Set(this.config.taskIds.train);
    return new Map(
      this.tasks.filter(({ instance_id }) => train.has(instance_id)).map((task) => [task.instance_id, task]),
    );
  }

  /** @param warmStartUpdates of a warm start that is not over */
  private save(warmStartUpdates?: number): Promise<void> {
    return this.weights.save(this.config.taskIds.train.length, warmStartUpdates);
  }

  private player() {
    const { generator, codec } = this.parts.policy;
    return { generator, codec, policyStep: this.weights.step };
  }
}
