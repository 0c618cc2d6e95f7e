import { say } from '../../trajectory/said.js';
import type { RunConfig } from '../run/runRecord.js';
import { percent, type Detector, type EvaluationEvent, type StepEvent } from './detector.js';
import { nowhere, type Finding } from './finding.js';

/** Held-out tasks among those that were trained on. */
export class HeldoutLeakDetector implements Detector {
  private readonly heldout: ReadonlySet<string>;
  private first: { step: number; taskId: string; trajectoryId: string | null } | null = null;

  constructor({ taskIds }: RunConfig) {
    this.heldout = new Set(taskIds.heldout);
  }

  onStep({ step, groups }: StepEvent): void {
    const leaked = groups.find(({ taskId }) => this.heldout.has(taskId));
    if (leaked) this.first ??= { step, taskId: leaked.taskId, trajectoryId: leaked.trajectoryIds[0] ?? null };
  }

  findings(): Finding[] {
    if (this.first === null) return [];
    const { step, taskId, trajectoryId } = this.first;
    return [
      {
        mode: 'heldout-leak',
        severity: 'critical',
        ...say`The held-out task ${taskId} was trained on in step ${step}: the evaluation says nothing any more.`,
        evidence: { step, trajectoryId, token: null },
        causes: ['The record or the tasks were changed by something else.'],
        remedy: 'Start a new run.',
      },
    ];
  }
}

/** Success on the train tasks rises while held-out success falls, beyond what chance explains. */
export class OverfittingDetector implements Detector {
  private readonly evaluations: EvaluationEvent[] = [];
  private readonly success: number[] = [];

  onEvaluation(event: EvaluationEvent): void {
    if (event.split === 'heldout') this.evaluations.push(event);
  }
  onStep({ metrics }: StepEvent): void {
    if (metrics.success !== undefined) this.success.push(metrics.success);
  }

  findings(): Finding[] {
    if (this.evaluations.length < 2 || this.success.length < 2) return [];
    const [before, after] = [this.evaluations[0], this.evaluations[this.evaluations.length - 1]];
    // Wilson intervals that do not meet.
    const hasFallen = after.success.interval[1] < before.success.interval[0];
    const hasRisen = this.success[this.success.length - 1] > this.success[0];
    if (!hasFallen || !hasRisen) return [];
    return [
      {
        mode: 'overfitting',
        severity: 'warning',
        ...say`Success on train tasks rose from ${percent(this.success[0])} to ${percent(this.success[this.success.length - 1])}, on held-out tasks it fell from ${percent(before.success.rate)} to ${percent(after.success.rate)}.`,
        evidence: { ...nowhere, step: after.step, trajectoryId: after.trajectoryIds[0] ?? null },
        causes: ['Too many steps over too few tasks.', 'A warm start that was too long.'],
        remedy: 'Build more tasks; lower `learningRate`, `steps` or `warmStartEpochs`; raise `klCoefficient`.',
      },
    ];
  }
}
