import type { Grade, TestStatus } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { machineError } from '../machineError.js';
import { kindWord } from '../trajectory/kindWord.js';
import { t } from '../translate.js';

/** A component of the reward: what it gave, and what it could have given. */
export interface ComponentRow {
  readonly name: string;
  readonly score: number;
  readonly weight: number;
  /** score × weight. */
  readonly gave: number;
  /** The least and the most that it can give. */
  readonly least: number;
  readonly most: number;
  readonly reason: string;
}
export interface TestRow {
  readonly id: string;
  readonly list: 'FAIL_TO_PASS' | 'PASS_TO_PASS' | '';
  readonly before: TestStatus;
  readonly after: TestStatus;
  /** The beginning of why it failed in the start tree, and with the patch; empty where it did not, or where nobody has looked. */
  readonly messageBefore: string;
  readonly message: string;
  /** Whether it does not pass, though the reward wants it to. */
  readonly isWrong: boolean;
}
export interface FileRow {
  readonly path: string;
  readonly ratio: number;
  readonly reason: string;
}
export interface GradeReport {
  readonly reward: number;
  readonly resolved: boolean;
  readonly components: readonly ComponentRow[];
  /** Those that do not pass come first. */
  readonly tests: readonly TestRow[];
  readonly files: readonly FileRow[];
}
/** What the reward debugger shows of a trajectory. */
export interface RewardReport {
  readonly title: string;
  readonly ended: string;
  /** Null where it was not graded; `ended` says why. */
  readonly recorded: GradeReport | null;
  /** Null until it was graded again. */
  readonly again: GradeReport | null;
  /** Absent where the run holds no such task: then there is no oracle to compare with. */
  readonly hasTask: boolean;
}

/** The range of a component's score (`src/env/reward/composite.ts`, `src/trainer/shaping/`, `src/trainer/judge/`); what is no part of the reward that is earned is a penalty. */
const ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  tests: [0, 1],
  similarity: [-1, 1],
  format: [0, 1],
  milestones: [0, 1],
  toolUse: [-1, 1],
  judge: [0, 1],
};
const penalty = [-1, 0] as const;

/** A grade that was made again, and why tests failed in the start tree, by their id. */
export interface GradedAgain {
  readonly grade: Grade;
  readonly before: ReadonlyMap<string, string>;
}

export function rewardReport(
  trajectory: Trajectory,
  task: Task | undefined,
  again: GradedAgain | undefined,
): RewardReport {
  const { grade, stopReason, taskId, kind, sample, step } = trajectory;
  return {
    title: `${taskId} · ${t('{0} {1} of step {2}', kindWord(kind), sample + 1, step)}`,
    ended: machineError(trajectory) ?? stopReason,
    recorded: grade && gradeReport(grade, task),
    again: again ? gradeReport(again.grade, task, again.before) : null,
    hasTask: task !== undefined,
  };
}

/** What a test says may be as long as it likes; more than this nobody reads in a page. */
const shownMessage = 20_000;
const beginningOf = (message: string) =>
  message.length > shownMessage ? `${message.slice(0, shownMessage)}…` : message;

function gradeReport(
  { reward, resolved, components, tests, files }: Grade,
  task: Task | undefined,
  messagesBefore: ReadonlyMap<string, string> = new Map(),
): GradeReport {
  const [fail, pass] = [new Set(task?.FAIL_TO_PASS), new Set(task?.PASS_TO_PASS)];
  const rows = tests.map(({ id, before, after, message = '' }): TestRow => {
    const list = fail.has(id) ? 'FAIL_TO_PASS' : pass.has(id) ? 'PASS_TO_PASS' : '';
    const messageBefore = beginningOf(messagesBefore.get(id) ?? '');
    return { id, list, before, after, messageBefore, message: beginningOf(message), isWrong: after !== 'passed' };
  });
  return {
    reward,
    resolved,
    components: Object.entries(components).map(([name, { score, weight, reason }]) => {
      const [least, most] = ranges[name] ?? penalty;
      return {
        name,
        score,
        weight,
        gave: score * weight,
        least: least * weight,
        most: most * weight,
        reason: reason ?? '',
      };
    }),
    tests: [...rows.filter(({ isWrong }) => isWrong), ...rows.filter(({ isWrong }) => !isWrong)],
    files: files.map(({ path, ratio, reason }) => ({ path, ratio, reason: reason ?? '' })),
  };
}
