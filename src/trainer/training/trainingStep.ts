import { applyPatch } from '../../env/tools/applyPatch.js';
import { say } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import { playsAhead, policyStepOf } from '../data/playedAhead.js';
import { bySamePrompt, recordedGroups } from '../data/recordedGroups.js';
import { chooseReplay } from '../data/replay.js';
import { isPlayed, stageOfStep } from '../data/stages.js';
import { planStep } from '../data/stepPlan.js';
import { hindsightLesson, type HindsightLesson } from '../hindsightLesson.js';
import { imitationStep } from '../imitationStep.js';
import { learnStep, type LearnedStep } from '../learnStep.js';
import { shapedReward } from '../lessons.js';
import { lessonsOfStep, withMemory } from '../memory/runMemory.js';
import { playStep, type PlayedGroup } from '../playStep.js';
import { preferenceStep } from '../preferenceStep.js';
import { samplingOptions } from '../rollout/environmentArena.js';
import { ownNodes } from '../rollout/nodes.js';
import { playGroups } from '../rollout/playGroups.js';
import { rememberedMetrics } from '../rollout/testMemory.js';
import { learningRateShare } from '../run/learnerSettings.js';
import type { StageSettings } from '../run/routeSettings.js';
import type { ReplayedGroup, RunConfig, StepEvent } from '../run/runRecord.js';
import type { Settings } from '../run/settings.js';
import { gradedBy, relabelFailures } from './hindsightReplay.js';
import { fromPrompt } from '../treePlaces.js';
import { milestonesReached } from '../shaping/milestones.js';
import { arenaOf, type TrainingParts } from './trainingParts.js';
import type { TrainingRecord } from './trainingRecord.js';

/** What a step learns from. */
export interface PlayedStep {
  readonly step: number;
  readonly groups: readonly PlayedGroup[];
  /** That playing took. */
  readonly seconds: number;
  /** Of its test runs, as metrics. */
  readonly testRuns: Readonly<Record<string, number>>;
}

/** What came of a step. */
export interface TrainedStep {
  /** Mean reward of its rollouts; null where nothing was graded. */
  readonly reward: number | null;
  /** What was played for it, and what the learner found out. */
  readonly trajectories: readonly Trajectory[];
  readonly learned: readonly LearnedTokens[];
}

interface StepHindsight {
  readonly lesson: HindsightLesson;
  readonly metrics: Readonly<Record<string, number>>;
}

/** One step of training after the other: what it plays, what it learns from, and what the record is told of it. */
export class TrainingStep {
  private readonly settings: Settings;

  /** @param trainTasks by id; no held-out task is among them */
  constructor(
    private readonly parts: TrainingParts,
    private readonly config: RunConfig,
    private readonly record: TrainingRecord,
    private readonly trainTasks: ReadonlyMap<string, Task>,
  ) {
    this.settings = config.settings;
  }

  /**
   * Plays what the step's plan says, or reads what was recorded of its tasks; tells the plan first, and remembers failures after.
   * @param policyStep updates behind the weights that the generator plays with
   */
  async play(step: number, policyStep: number, signal: AbortSignal): Promise<PlayedStep> {
    const { testMemory } = this.parts;
    const runsBefore = testMemory?.counts;
    const started = performance.now();
    const stage = stageOfStep(this.settings, step).settings;
    const groups = await this.groupsOfStep(step, stage, policyStep, signal);
    const seconds = (performance.now() - started) / 1000;
    const testRuns = testMemory && runsBefore ? rememberedMetrics(runsBefore, testMemory.counts) : {};
    if (isPlayed(stage)) await this.rememberFailures(step, groups, policyStep, signal);
    return { step, groups, seconds, testRuns };
  }

  /**
   * Learns from what was played for a step, with the weights after the one before. They have moved when it returns, and it is recorded.
   * @param waited for how many seconds the learner waited for the player since the step before
   */
  async learnFrom({ step, groups, seconds, testRuns }: PlayedStep, waited: number): Promise<TrainedStep> {
    const { reader, writer } = this.parts;
    const began = performance.now();
    const stage = stageOfStep(this.settings, step).settings;
    const history = await reader.steps();
    const replayed = this.replayedIn(step, stage, history);
    const again = await Promise.all(replayed.map(({ trajectoryIds }) => this.recorded(trajectoryIds)));
    const hindsight = await this.hindsightOf(stage, groups);
    const { metrics, advantages, learned } = await this.learn(step, stage, groups, again, hindsight);
    for (const tokens of learned) writer.learned(tokens);
    const trajectories = isPlayed(stage) ? groups.flatMap((group) => group.trajectories) : [];
    const tokensBefore = history.find((event) => event.step === step - 1)?.metrics.num_tokens ?? 0;
    const learning = (performance.now() - began) / 1000;
    writer.event({
      type: 'step',
      step,
      method: stage.method,
      metrics: {
        ...metrics,
        ...hindsight?.metrics,
        num_tokens:
          tokensBefore + trajectories.flatMap(ownNodes).reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
        ...testRuns,
        'timing/rollout': seconds,
        ...(playsAhead(this.settings) && {
          'timing/wait': waited,
          'timing/overlap': Math.max(0, seconds - waited),
        }),
        'timing/learn': learning,
        step_time: waited + learning,
      },
      groups: groups.map((group, index) => ({ ...outcomeOf(group, this.settings), advantages: advantages[index] })),
      ...(replayed.length > 0 && {
        replayed: replayed.map((group, index) => ({ ...group, advantages: advantages[groups.length + index] })),
      }),
    });
    return { reward: metrics.reward ?? null, trajectories, learned };
  }

  private replayedIn(step: number, stage: StageSettings, history: readonly StepEvent[]): readonly ReplayedGroup[] {
    return stage.method === 'policy-gradient' ? chooseReplay(history, step, this.settings.replay) : [];
  }

  /**
   * By the policy that failed, which is the one that says why. What a run remembered before it was resumed stays: the weights that
   * said it may be gone.
   */
  private async rememberFailures(
    step: number,
    groups: readonly PlayedGroup[],
    policyStep: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { reader, writer } = this.parts;
    const events = await reader.events();
    const known = new Set(events.flatMap((one) => (one.type === 'lesson' && one.step === step ? [one.taskId] : [])));
    const others = groups.filter(({ taskId }) => !known.has(taskId));
    for (const lesson of await lessonsOfStep(this.player(policyStep), others, this.settings, step, signal))
      writer.event(lesson);
  }

  private player(policyStep: number) {
    const { generator, codec } = this.parts.policy;
    return { generator, codec, policyStep };
  }

  private async groupsOfStep(
    step: number,
    stage: StageSettings,
    policyStep: number,
    signal: AbortSignal,
  ): Promise<PlayedGroup[]> {
    const { settings } = this;
    const { reader, writer } = this.parts;
    const planned = policyStepOf(settings, step);
    const isAhead = planned < step - 1;
    // Also where more is recorded by now: it depends on how fast the learner is, or a run was killed and resumed.
    const history = (await reader.steps()).filter((event) => event.step <= planned);
    // What is replayed beside a step that is played ahead is chosen when it is learned from.
    const replayed = isAhead ? [] : this.replayedIn(step, stage, history);
    const plan = planStep(this.config.taskIds.train, history, settings, step);
    const { temperature, maxTurns } = plan;
    const onRound = (round: number, tasks: typeof plan.tasks) =>
      writer.event({
        type: 'plan',
        step,
        round,
        ...(isAhead && { policyStep: planned }),
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
    const arena = arenaOf(this.parts, { ...settings, maxTurns });
    const options = samplingOptions({ ...settings, temperature }, 'rollout');
    return playStep(plan, this.trainTasks, settings, stage.method === 'policy-gradient', {
      onRound,
      play: async (plans) => {
        const played = await playGroups(
          this.player(policyStep),
          arena,
          withMemory(plans, await reader.events(), settings, step),
          options,
          this.record.schedule('train', say`Step ${step} of ${settings.steps}`, plans.length, signal),
          (id) => reader.findTrajectory(id),
        );
        const others = played.filter((one) => one.policyStep !== planned).length;
        if (others > 0) {
          const message = `Step ${step}: the record lacked ${others} of its episodes, and the weights after step ${planned} are gone. They were played with those after step ${policyStep}.`;
          writer.event({ type: 'notice', message });
        }
        return played;
      },
    });
  }

  /** What the step's failures teach of smaller tasks; null where nobody wants to know. */
  private async hindsightOf(stage: StageSettings, groups: readonly PlayedGroup[]): Promise<StepHindsight | null> {
    const { hindsightWeight } = this.settings;
    const learnsFromIt = stage.method === 'policy-gradient' || stage.method === 'rejection-sampling';
    if (hindsightWeight === 0 || !learnsFromIt) return null;
    const { environment, policy, reader, writer, control } = this.parts;
    const { trajectories, refuted } = await relabelFailures(
      groups.flatMap((group) => group.trajectories),
      {
        codec: policy.codec,
        trainTasks: this.trainTasks,
        grade: gradedBy(environment, this.settings, control.signal),
        recorded: (id) => reader.findTrajectory(id),
        record: (trajectory) => writer.trajectory(trajectory),
      },
    );
    return {
      lesson: hindsightLesson(trajectories, hindsightWeight),
      metrics: { 'hindsight/relabelled': trajectories.length, 'hindsight/refuted': refuted },
    };
  }

  private learn(
    step: number,
    chosen: StageSettings,
    groups: readonly PlayedGroup[],
    replayed: readonly (readonly Trajectory[])[],
    hindsight: StepHindsight | null,
  ): Promise<LearnedStep> {
    const { settings, stage } = this.scheduled(step, chosen);
    const { reference, policy } = this.parts;
    const { learner, codec } = policy;
    const trajectories = groups.map((group) => group.trajectories);
    if (stage.method === 'rejection-sampling') {
      return imitationStep(learner, trajectories, stage, settings, step, hindsight?.lesson);
    }
    if (stage.method !== 'policy-gradient') {
      return preferenceStep(learner, reference, trajectories, stage, settings, step);
    }
    const ofStage = { ...settings, learningRate: stage.learningRate ?? settings.learningRate };
    return learnStep(learner, settings.klCoefficient > 0 ? reference : null, trajectories, ofStage, step, {
      replayed,
      ...(hindsight && { hindsight: hindsight.lesson }),
      milestonesOf: (trajectory) => {
        const task = this.trainTasks.get(trajectory.taskId);
        const { grade } = trajectory;
        return grade === null || task === undefined
          ? new Map<string, number>()
          : milestonesReached(trajectory, grade, task);
      },
      oracleTurn: (taskId) => {
        const call = {
          id: 'oracle',
          name: applyPatch.name,
          arguments: { patch: this.trainTasks.get(taskId)!.patch },
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
    const wanted = new Set(taskIds);
    const headers = await this.parts.reader.headers(({ taskId }) => wanted.has(taskId));
    const groups = taskIds.flatMap((taskId) => recordedGroups(headers, taskId, step, 4 * this.settings.groupSize));
    const read = await Promise.all(
      groups.map(async ({ taskId, trajectoryIds }) => ({ taskId, trajectories: await this.recorded(trajectoryIds) })),
    );
    return read.flatMap(({ taskId, trajectories }) =>
      bySamePrompt(trajectories).map((alike) => ({ taskId, trajectories: alike })),
    );
  }

  private recorded(ids: readonly string[]): Promise<Trajectory[]> {
    return Promise.all(ids.map((id) => this.parts.reader.trajectory(id)));
  }
}

/** What the record of a step says of a group, beside its advantages. */
function outcomeOf({ taskId, trajectories }: PlayedGroup, settings: Settings) {
  // A branch tells how hard the rest of the task is, and not the task.
  const whole = trajectories.filter(fromPrompt);
  return {
    taskId,
    trajectoryIds: trajectories.map(({ id }) => id),
    rewards: trajectories.map((trajectory) => shapedReward(trajectory, settings)),
    played: whole.filter(({ grade }) => grade !== null).length,
    resolved: whole.filter(({ grade }) => grade?.resolved).length,
  };
}
