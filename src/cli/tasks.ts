import { readTasks } from '../env/tasks/taskStore.js';
import { badInput } from '../trajectory/errors.js';
import { say } from '../trajectory/said.js';
import type { Task } from '../trajectory/task.js';

/** The stored task of that id. Throws badInput where there is none. */
export async function taskById(stateFolder: string, id: string): Promise<Task> {
  const tasks = await readTasks(stateFolder);
  const task = tasks.find(({ instance_id }) => instance_id === id);
  if (task === undefined) throw badInput(say`There is no task ${JSON.stringify(id)}.`, 'See `whetstone tasks list`.');
  return task;
}
