import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Task } from '../../trajectory/task.js';
import { settingsSchema, type Settings } from '../run/settings.js';

/** Changes with what trainer and worker say to one another beyond OpenEnv's contract. */
export const workerProtocol = 1;

/** Timers do not wait longer than some weeks, and nobody else should have to wait longer than a day. */
const longestSeconds = 86_400;
const seconds = z.number().positive().max(longestSeconds);

/** Settings of a run that decide what happens in an episode and what it is worth. */
const termsSettings = settingsSchema
  .pick({ maxTurns: true, selfCheck: true, reward: true })
  .extend({ episodeSeconds: seconds, testSeconds: seconds });

/** How a trainer wants an episode played that a worker plays for it; beside OpenEnv's fields in a reset. */
export const playTermsSchema = z.strictObject({
  settings: termsSettings,
  /** How the policy writes a tool call, for the prompt and the answers to malformed calls. */
  callExample: z.string().max(10_000).nullable(),
  /** Digest of the task as the trainer has it. */
  task: z.string(),
});
export type PlayTerms = z.infer<typeof playTermsSchema>;

export function playTerms(settings: Settings, callExample: string | undefined, task: Task): PlayTerms {
  const { maxTurns, selfCheck, reward } = settings;
  const [episodeSeconds, testSeconds] = [settings.episodeSeconds, settings.testSeconds].map((most) =>
    Math.min(most, longestSeconds),
  );
  return {
    settings: { maxTurns, selfCheck, reward, episodeSeconds, testSeconds },
    callExample: callExample ?? null,
    task: taskDigest(task),
  };
}

/** The same on two machines exactly where the task starts from the same tree, asks the same, and is graded by the same. */
export function taskDigest(task: Task): string {
  const { base_tree, start_patch, runner, test_root, test_files } = task.whetstone;
  const facts = [
    task.instance_id,
    task.problem_statement,
    task.patch,
    task.test_patch,
    task.FAIL_TO_PASS,
    task.PASS_TO_PASS,
    base_tree,
    start_patch,
    runner,
    test_root,
    test_files,
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}
