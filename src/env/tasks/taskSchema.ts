import { z } from 'zod';
import type { Task } from '../../trajectory/task.js';

/** What a stored task must be, wherever it was copied to. */
export const taskSchema: z.ZodType<Task> = z.object({
  instance_id: z.string().regex(/^[A-Za-z0-9._-]+$/),
  repo: z.string(),
  base_commit: z.string(),
  environment_setup_commit: z.string(),
  version: z.string(),
  created_at: z.string(),
  problem_statement: z.string(),
  hints_text: z.string(),
  patch: z.string(),
  test_patch: z.string(),
  FAIL_TO_PASS: z.array(z.string()).min(1),
  PASS_TO_PASS: z.array(z.string()),
  whetstone: z.object({
    source: z.enum(['injection', 'history']),
    split: z.enum(['train', 'heldout']),
    base_tree: z.string(),
    start_patch: z.string(),
    runner: z.string(),
    test_root: z.string(),
    test_files: z.array(z.string()),
    operator: z.string().optional(),
    site: z.object({ file: z.string(), line: z.number().int() }).optional(),
    bugs: z
      .array(
        z.object({
          operator: z.string(),
          file: z.string(),
          line: z.number().int(),
          breaks: z.array(z.string()).min(1),
        }),
      )
      .min(2)
      .optional(),
  }),
});
