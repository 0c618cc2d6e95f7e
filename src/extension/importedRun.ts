import { z } from 'zod';

/** What `whetstone runs import --json` prints, as far as it is read here. */
export const importedRunSchema = z.looseObject({
  runId: z.string(),
  trajectories: z.int(),
  /** Trajectories whose token ids were left out for want of a tokenizer. */
  withoutTokens: z.int(),
});
export type ImportedRun = z.infer<typeof importedRunSchema>;
