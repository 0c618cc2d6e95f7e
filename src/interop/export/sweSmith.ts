import type { Task } from '../../trajectory/task.js';

/** A row of SWE-smith: its `patch` is the bug, and reversing that is the gold patch. */
export interface SweSmithInstance {
  readonly instance_id: string;
  readonly repo: string;
  readonly base_commit: string;
  readonly patch: string;
  readonly FAIL_TO_PASS: readonly string[];
  readonly PASS_TO_PASS: readonly string[];
  readonly created_at: string;
  readonly image_name: string;
  readonly problem_statement: string;
}

/** Null for tasks from history: nobody put a bug in there. `baseCommit`: a commit of the tree without the bug. */
export function toSweSmith(task: Task, baseCommit: string, imageName: string): SweSmithInstance | null {
  if (task.whetstone.source !== 'injection') return null;
  return {
    instance_id: task.instance_id,
    repo: task.repo,
    base_commit: baseCommit,
    patch: task.whetstone.start_patch,
    FAIL_TO_PASS: task.FAIL_TO_PASS,
    PASS_TO_PASS: task.PASS_TO_PASS,
    created_at: task.created_at,
    image_name: imageName,
    problem_statement: task.problem_statement,
  };
}
