import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';

/** A row of a SWE-bench dataset; lists of tests are JSON texts, as its harness reads them from a file. */
export interface SweBenchInstance {
  readonly repo: string;
  readonly instance_id: string;
  readonly base_commit: string;
  readonly patch: string;
  readonly test_patch: string;
  readonly problem_statement: string;
  readonly hints_text: string;
  readonly created_at: string;
  readonly version: string;
  readonly FAIL_TO_PASS: string;
  readonly PASS_TO_PASS: string;
  readonly environment_setup_commit: string;
}

/** `startCommit`: a commit of the tree that the task starts from before its test patch (`startCommits.ts`). */
export function toSweBench(task: Task, startCommit: string): SweBenchInstance {
  return {
    repo: task.repo,
    instance_id: task.instance_id,
    base_commit: startCommit,
    patch: task.patch,
    test_patch: task.test_patch,
    problem_statement: task.problem_statement,
    hints_text: task.hints_text,
    created_at: task.created_at,
    version: task.version,
    FAIL_TO_PASS: JSON.stringify(task.FAIL_TO_PASS),
    PASS_TO_PASS: JSON.stringify(task.PASS_TO_PASS),
    environment_setup_commit: task.environment_setup_commit,
  };
}

/** A line of predictions, which the harnesses of SWE-bench and SWE-smith grade. */
export function toPrediction(trajectory: Trajectory, model: string) {
  return { instance_id: trajectory.taskId, model_name_or_path: model, model_patch: trajectory.patch };
}
