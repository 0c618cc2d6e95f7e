import { createHash } from 'node:crypto';
import type { Task } from '../../trajectory/task.js';
import { narrowedStatement } from './statement.js';

/**
 * The same task with less to do: only some of the failing tests are its goal, and only they are told of. The others may fail on;
 * what passes must still pass. Its id is the task's own with a mark of the goal, so the same goal is the same task.
 * Throws where the goal is nothing or is not among the task's failing tests.
 */
export function narrowTask(task: Task, goal: readonly string[]): Task {
  const wanted = new Set(goal);
  const FAIL_TO_PASS = task.FAIL_TO_PASS.filter((id) => wanted.has(id));
  if (FAIL_TO_PASS.length === 0 || FAIL_TO_PASS.length !== wanted.size) {
    throw new Error(`internal: [${goal.join(', ')}] is no goal of ${task.instance_id}`);
  }
  const mark = createHash('sha256').update(JSON.stringify(FAIL_TO_PASS)).digest('hex').slice(0, 8);
  return {
    ...task,
    instance_id: `${task.instance_id}~${mark}`,
    problem_statement: narrowedStatement(task.problem_statement, FAIL_TO_PASS),
    FAIL_TO_PASS,
  };
}
