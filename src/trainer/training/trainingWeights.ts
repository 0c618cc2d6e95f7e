import { tasksDealtInStep } from '../data/curriculum.js';
import { isEndOfStage } from '../data/stages.js';
import { isReference, listCheckpoints, writeCheckpoint, type Checkpoint } from '../run/checkpoints.js';
import { keepWithinBudget } from '../run/diskBudget.js';
import type { Settings } from '../run/settings.js';
import type { TrainingParts } from './trainingParts.js';

/** Which weights a training has, and the checkpoints that keep them. */
export class TrainingWeights {
  /** Optimizer steps behind the present weights. */
  step = 0;
  /** Mean reward of the step's rollouts; null where nothing was graded. */
  reward: number | null = null;
  /** The newest checkpoint. */
  saved: Checkpoint | null = null;

  constructor(
    private readonly parts: TrainingParts,
    private readonly settings: Settings,
  ) {}

  /** Whether the checkpoints lack the present weights. */
  get isAhead(): boolean {
    return this.step > (this.saved?.state.step ?? 0);
  }

  /** Goes back to the newest checkpoint, and takes as the reference the weights that the stage began with. */
  async restore(): Promise<void> {
    const { policy, reference, reader } = this.parts;
    const checkpoints = await listCheckpoints(reader.paths.checkpoints);
    this.saved = checkpoints.at(-1) ?? null;
    if (this.saved === null) return;
    const { step, reward } = this.saved.state;
    const began = checkpoints.filter((one) => isReference(one) && one.state.step <= step).at(-1);
    if (began !== undefined) await reference?.load(began.folder, { optimizer: false });
    // The optimizer of a stage that is over belongs to another loss: the next one begins with a fresh one.
    await policy.learner.load(this.saved.folder, { optimizer: !isReference(this.saved) });
    policy.played.use();
    this.step = step;
    this.reward = reward;
  }

  /**
   * @param trainTasks how many there are
   * @param warmStartUpdates of a warm start that is not over
   */
  async save(trainTasks: number, warmStartUpdates?: number): Promise<void> {
    const { policy, reader, writer } = this.parts;
    const { checkpoints: kept, steps, seed, tasksPerStep } = this.settings;
    const state = {
      version: 1 as const,
      step: this.step,
      seed,
      curriculumCursor: this.step * tasksDealtInStep(trainTasks, tasksPerStep),
      reward: this.reward,
      ...(warmStartUpdates !== undefined && { warmStartUpdates }),
      ...(this.step > 0 && isEndOfStage(this.settings, this.step) && { stageEnd: true }),
    };
    this.saved = await writeCheckpoint(
      reader.paths.checkpoints,
      state,
      (folder) => policy.learner.save(folder, { optimizer: true }),
      kept,
    );
    writer.event({ type: 'checkpoint', step: this.step, folder: this.saved.folder });
    await keepWithinBudget(reader.paths, kept.diskGigabytes, this.step === steps);
  }
}
