/**
 * The files of a run directory, `.whetstone/runs/<id>/`: the only truth about a run.
 *
 *   config.json          RunConfig; its taskIds are empty until the tasks are settled; a resumed run may change a few settings (`changed`)
 *   tasks.json           Task[], copied when the tasks are settled
 *   events.jsonl         RunEvent, append-only; a torn last line is ignored
 *   trajectories.jsonl   one TrajectoryLine a trajectory, append-only; a branch holds the nodes that it does not share
 *   headers.jsonl        one TrajectoryHeader a trajectory and where its line lies: an index that lists read, no part of the truth
 *   tokens.bin           blocks of ids, mask, log-probs, entropies, addressed by TrajectoryLine
 *   learned.jsonl/.bin   what the learner found out about each trajectory (LearnedTokens)
 *   checkpoints/step-000010/   step 0 where there was a warm start; it and the last of each stage are the next one's reference. Hugging Face layout, optimizer.safetensors, state.json; made by rename, so whole or absent
 *   process.json         of the background process while it lives: pid, socket
 *   log.txt              standard error of the background process
 */
import type { ErrorKind } from '../../trajectory/errors.js';
import type { Phrase, Said } from '../../trajectory/said.js';
import type { BranchOrigin } from '../../trajectory/trajectory.js';
import type { Finding } from '../doctor/finding.js';
import type { TaskOutcomes } from '../evaluation/evaluationMetrics.js';
import type { SettingChange } from './resumeChanges.js';
import type { StageMethod } from './routeSettings.js';
import type { Settings } from './settings.js';

export interface RunConfig {
  readonly version: 1;
  readonly runId: string;
  readonly createdAt: string;
  readonly repoRoot: string;
  readonly headCommit: string;
  readonly settings: Settings;
  readonly taskIds: { readonly train: readonly string[]; readonly heldout: readonly string[] };
  readonly sandbox: string;
}

export type RunStatus = 'running' | 'paused' | 'completed' | 'stopped' | 'failed' | 'interrupted';
export type Stage = 'tasks' | 'evaluate-before' | 'warm-start' | 'train' | 'evaluate-after';

export interface Evaluation {
  readonly step: number;
  readonly split: 'train' | 'heldout';
  /** Wilson interval at 95 %. `n` counts episodes. */
  readonly success: { readonly rate: number; readonly interval: readonly [number, number]; readonly n: number };
  readonly meanReward: number;
  readonly validCallRate: number;
  /** Unbiased, by k. Absent in older records, like the next two. */
  readonly passAtK?: Readonly<Record<string, number>>;
  /** Steps, tool calls, cost, recovery, safety, patches (evaluation/evaluationMetrics.ts). */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly outcomes?: readonly TaskOutcomes[];
  readonly trajectoryIds: readonly string[];
}

/** A task that a step plays, and why. */
export interface ChosenTask {
  readonly taskId: string;
  readonly why: string;
  /** Expected success, where the curriculum looks at it; else null. */
  readonly success: number | null;
}

/** A group of an earlier step that is learned from again, and why. */
export interface ReplayedGroup {
  readonly fromStep: number;
  readonly taskId: string;
  readonly trajectoryIds: readonly string[];
  readonly why: string;
}

export type RunEvent = { readonly at: string } & (
  | { readonly type: 'started'; readonly pid: number; readonly resumedFromStep: number | null }
  | {
      /** Settings that a resumed run has otherwise from here on. */
      readonly type: 'changed';
      readonly changes: readonly SettingChange[];
    }
  | { readonly type: 'stage'; readonly stage: Stage }
  | ({
      readonly type: 'progress';
      readonly stage: Stage;
      readonly done: number;
      readonly total: number;
    } & Said)
  | ({ readonly type: 'evaluation' } & Evaluation)
  | {
      /** One supervised update of the warm start. */
      readonly type: 'warm-start';
      readonly update: number;
      readonly updates: number;
      readonly metrics: Readonly<Record<string, number>>;
    }
  | {
      /** What a step is going to play and learn from, and why. */
      readonly type: 'plan';
      readonly step: number;
      /** 0, and more where dynamic sampling plays groups in place of silent ones. */
      readonly round: number;
      /** Updates behind the weights that play it, and up to which the choice knows what came of them; absent: all before the step. */
      readonly policyStep?: number;
      readonly method: StageMethod;
      readonly temperature: number;
      readonly maxTurns: number;
      readonly tasks: readonly ChosenTask[];
      readonly replayed: readonly ReplayedGroup[];
    }
  | {
      readonly type: 'step';
      readonly step: number;
      /** Absent in older records: the policy gradient. */
      readonly method?: StageMethod;
      /** By the names that TRL's users know: reward, reward_std, entropy, kl, clip_ratio/region_mean, ... */
      readonly metrics: Readonly<Record<string, number>>;
      readonly groups: readonly {
        readonly taskId: string;
        readonly trajectoryIds: readonly string[];
        readonly advantages: readonly number[];
        /** What the advantages were made of: rewards less what the length costs. Absent in older records. */
        readonly rewards?: readonly (number | null)[];
        /** Rollouts that the machine did not fail, and those of them that solved the task. */
        readonly played?: number;
        readonly resolved?: number;
      }[];
      /** Groups of earlier steps that were learned from again. */
      readonly replayed?: readonly (ReplayedGroup & { readonly advantages: readonly number[] })[];
    }
  | {
      /** What is remembered of a failed attempt: shown to attempts of the task in later steps. */
      readonly type: 'lesson';
      readonly step: number;
      readonly taskId: string;
      readonly trajectoryId: string;
      readonly text: string;
    }
  | {
      /** What the doctor found while training; each failure mode once a run. */
      readonly type: 'finding';
      readonly step: number;
      readonly finding: Finding;
    }
  | {
      /** What a person should know of the machines that play: a worker is lost, or back. */
      readonly type: 'notice';
      readonly message: string;
    }
  | { readonly type: 'checkpoint'; readonly step: number; readonly folder: string }
  | { readonly type: 'paused' | 'resumed' }
  | ({
      readonly type: 'finished';
      readonly status: 'completed' | 'stopped' | 'failed';
      /** Of a failed run: whose fault it was, which decides the exit code. */
      readonly errorKind?: ErrorKind;
    } & Said)
);

/** `message`: what is being done, or how it ended. */
export interface RunSummary extends Said {
  readonly id: string;
  readonly folder: string;
  /** `interrupted`: it never finished and its process is gone. */
  readonly status: RunStatus;
  readonly stage: Stage | null;
  readonly step: number;
  readonly steps: number;
  readonly createdAt: string;
}

export type StepEvent = Extract<RunEvent, { type: 'step' }>;

/** A trajectory without its tokens and messages: what lists and trees show. */
export interface TrajectoryHeader {
  readonly id: string;
  readonly kind: 'rollout' | 'evaluation' | 'demonstration';
  readonly step: number;
  readonly taskId: string;
  readonly sample: number;
  readonly reward: number | null;
  readonly resolved: boolean;
  readonly stopReason: string;
  readonly turns: number;
  /** All tokens, those that the policy did not sample too. */
  readonly tokens: number;
  /** From the first turn to the last. */
  readonly seconds: number;
  /** Names of the tools that were called. */
  readonly tools: readonly string[];
  readonly infrastructureError: string | null;
  readonly infrastructurePhrase?: Phrase;
  readonly sandbox: string;
  /** Set where it is a branch. */
  readonly origin?: Pick<BranchOrigin, 'trajectoryId' | 'turn'>;
}
