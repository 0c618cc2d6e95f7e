import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import { Doctor } from '../doctor/doctor.js';
import type { RunConfig } from '../run/runRecord.js';
import type { TrainingParts } from './trainingParts.js';

/** The doctor beside a training: looks at each step, and pauses the run at what makes going on useless, where that is wanted. */
export class TrainingDoctor {
  private constructor(
    private readonly doctor: Doctor,
    private readonly parts: TrainingParts,
    private readonly pauses: boolean,
  ) {}

  /** Knows the metrics of the steps behind the present weights; null where no doctor is wanted. */
  static async upTo(step: number, config: RunConfig, parts: TrainingParts): Promise<TrainingDoctor | null> {
    if (config.settings.doctor === 'off') return null;
    const doctor = new Doctor(config);
    for (const event of await parts.reader.steps()) if (event.step <= step) doctor.onStep(event);
    return new TrainingDoctor(doctor, parts, config.settings.doctor === 'pause');
  }

  /** Records what is found now and was not found before. */
  async examine(step: number, trajectories: readonly Trajectory[], learned: readonly LearnedTokens[]): Promise<void> {
    const { reader, writer, control } = this.parts;
    const learnedOf = new Map(learned.map((tokens) => [tokens.trajectoryId, tokens]));
    for (const trajectory of trajectories) this.doctor.onTrajectory(trajectory, learnedOf.get(trajectory.id) ?? null);
    const event = (await reader.steps()).find((one) => one.step === step);
    if (event) this.doctor.onStep(event);
    const events = await reader.events();
    const known = new Set(events.flatMap((one) => (one.type === 'finding' ? [one.finding.mode] : [])));
    const news = this.doctor.findings().filter(({ mode }) => !known.has(mode));
    for (const finding of news) writer.event({ type: 'finding', step, finding });
    if (this.pauses && news.some(({ severity }) => severity === 'critical')) control.pause();
  }
}
