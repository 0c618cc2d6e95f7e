import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import type { RunConfig } from '../run/runRecord.js';
import type { RunReader } from '../run/runReader.js';
import type { EvaluationEvent, MakeDetector, StepEvent } from './detector.js';
import type { Finding } from './finding.js';
import { GraderHackingDetector } from './graderHackingDetector.js';
import { HeldoutLeakDetector, OverfittingDetector } from './heldoutDetectors.js';
import { MaskDetector } from './maskDetector.js';
import {
  InventedToolsDetector,
  LoopsDetector,
  MalformedCallsDetector,
  TruncationDetector,
} from './rolloutDetectors.js';
import * as byMetrics from './stepDetectors.js';

const detectors: readonly MakeDetector[] = [
  () => new MaskDetector(),
  (config) => new HeldoutLeakDetector(config),
  () => new GraderHackingDetector(),
  ...Object.values(byMetrics),
  () => new InventedToolsDetector(),
  () => new MalformedCallsDetector(),
  () => new LoopsDetector(),
  (config) => new TruncationDetector(config),
  () => new OverfittingDetector(),
];

/** Examines a run as it goes on, or one that has ended: shown everything in order, it says what is wrong so far. */
export class Doctor {
  private readonly detectors;

  constructor(config: RunConfig) {
    this.detectors = detectors.map((make) => make(config));
  }

  onTrajectory(trajectory: Trajectory, learned: LearnedTokens | null): void {
    for (const detector of this.detectors) detector.onTrajectory?.(trajectory, learned);
  }
  onStep(event: StepEvent): void {
    for (const detector of this.detectors) detector.onStep?.(event);
  }
  onEvaluation(event: EvaluationEvent): void {
    for (const detector of this.detectors) detector.onEvaluation?.(event);
  }

  /** The critical ones first. */
  findings(): Finding[] {
    const found = this.detectors.flatMap((detector) => detector.findings());
    return [
      ...found.filter(({ severity }) => severity === 'critical'),
      ...found.filter(({ severity }) => severity === 'warning'),
    ];
  }
}

/** Examines the whole record of a run, one trajectory in memory at a time. Throws bad-input where the record is broken. */
export async function examineRun(run: RunReader, signal?: AbortSignal): Promise<Finding[]> {
  const doctor = new Doctor(await run.config());
  for (const { id } of await run.headers()) {
    signal?.throwIfAborted();
    doctor.onTrajectory(await run.trajectory(id), await run.learned(id));
  }
  for (const step of await run.steps()) doctor.onStep(step);
  for (const evaluation of await run.evaluations()) doctor.onEvaluation(evaluation);
  return doctor.findings();
}
