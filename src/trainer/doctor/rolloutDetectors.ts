import { say } from '../../trajectory/said.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { turnsAt } from '../data/schedules.js';
import type { RunConfig } from '../run/runRecord.js';
import { percent, type Detector } from './detector.js';
import type { Finding } from './finding.js';

/** Counts, among the rollouts, those with a symptom, and remembers the first. */
abstract class ShareDetector implements Detector {
  private rollouts = 0;
  private ill = 0;
  private first: Finding['evidence'] | null = null;

  onTrajectory(trajectory: Trajectory): void {
    // Those of step 0 are the starting policy's, as negative examples.
    if (trajectory.kind !== 'rollout' || trajectory.step === 0 || trajectory.infrastructureError !== null) return;
    this.rollouts++;
    if (!this.isIll(trajectory)) return;
    this.ill++;
    this.first ??= { step: trajectory.step, trajectoryId: trajectory.id, token: null };
  }

  findings(): Finding[] {
    const { share, atLeast, describe } = this.rule;
    if (this.first === null || this.ill < atLeast || this.ill / this.rollouts < share) return [];
    const found = describe(this.ill, this.rollouts, percent(this.ill / this.rollouts));
    return [{ ...found, severity: 'warning', evidence: this.first }];
  }

  protected abstract isIll(trajectory: Trajectory): boolean;
  protected abstract readonly rule: {
    readonly share: number;
    readonly atLeast: number;
    readonly describe: (ill: number, rollouts: number, share: string) => Omit<Finding, 'evidence' | 'severity'>;
  };
}

export class InventedToolsDetector extends ShareDetector {
  protected readonly rule = {
    share: 0.1,
    atLeast: 3,
    describe: (ill: number, rollouts: number, share: string) => ({
      mode: 'invented-tools' as const,
      ...say`${ill} of ${rollouts} rollouts (${share}) call tools that do not exist.`,
      causes: ['The model was trained with other tools.', 'The temperature is too high.'],
      remedy: 'Lower `temperature`; give a warm start (`warmStartEpochs`).',
    }),
  };
  protected isIll = ({ statistics }: Trajectory) => statistics.unknownTools > 0;
}

export class MalformedCallsDetector extends ShareDetector {
  protected readonly rule = {
    share: 0.25,
    atLeast: 5,
    describe: (ill: number, rollouts: number, share: string) => ({
      mode: 'malformed-calls' as const,
      ...say`${ill} of ${rollouts} rollouts (${share}) have more than a quarter of their calls not parse or not fit the tool's arguments.`,
      causes: ['The model does not know the form of the calls.', 'Turns are cut off.', 'The temperature is too high.'],
      remedy: 'Lower `temperature`, raise `maxTokensPerTurn`, or give a warm start (`warmStartEpochs`).',
    }),
  };
  /** A call that fails now and then is part of exploring. */
  protected isIll = ({ statistics: { malformedCalls, invalidArguments, validCalls } }: Trajectory) =>
    malformedCalls + invalidArguments > 0.25 * (malformedCalls + invalidArguments + validCalls);
}

export class TruncationDetector extends ShareDetector {
  protected readonly rule = {
    share: 0.5,
    atLeast: 5,
    describe: (ill: number, rollouts: number, share: string) => ({
      mode: 'truncation' as const,
      ...say`${ill} of ${rollouts} rollouts (${share}) were cut off by a limit on turns, tokens or time.`,
      causes: ['The limits are too narrow for the tasks.', 'The policy does not come to an end.'],
      remedy: 'Raise `maxTurns` or `maxTokensPerTurn`; see whether the trajectories repeat themselves.',
    }),
  };

  constructor(private readonly config: RunConfig) {
    super();
  }

  /** Where the horizon is still short, the end of the turns is meant. */
  protected isIll = ({ stopReason, step }: Trajectory) => {
    const { settings } = this.config;
    if (stopReason === 'turn-limit') return turnsAt(settings, step) === settings.maxTurns;
    return stopReason === 'token-limit' || stopReason === 'time-limit';
  };
}

/** The same calls three times on end, answered the same each time. */
export class LoopsDetector extends ShareDetector {
  protected readonly rule = {
    share: 0.25,
    atLeast: 5,
    describe: (ill: number, rollouts: number, share: string) => ({
      mode: 'loops' as const,
      ...say`${ill} of ${rollouts} rollouts (${share}) make the same call three times on end and get the same answer.`,
      causes: ['The policy does not read the observation.', 'The temperature is too low.'],
      remedy: 'Raise `temperature`; lower `maxTurns`; a warm start shows what comes next.',
    }),
  };
  protected isIll = ({ nodes }: Trajectory) => {
    let [previous, repeats] = ['', 1];
    for (let index = 0; index < nodes.length; index++) {
      const { message } = nodes[index];
      if (message.role !== 'assistant' || message.toolCalls.length === 0) continue;
      const answers: string[] = [];
      for (let next = index + 1; next < nodes.length && nodes[next].message.role === 'tool'; next++) {
        answers.push(nodes[next].message.content);
      }
      const turn = JSON.stringify([message.toolCalls.map(({ name, arguments: given }) => [name, given]), answers]);
      repeats = turn === previous ? repeats + 1 : 1;
      previous = turn;
      if (repeats === 3) return true;
    }
    return false;
  };
}
