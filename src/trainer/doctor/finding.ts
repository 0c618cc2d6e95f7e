import { z } from 'zod';
import { saidFields } from '../../trajectory/saidSchema.js';

/** What can be wrong with a training. */
export const failureModes = [
  'mask-leak',
  'mask-off',
  'grader-hacking',
  'reward-hacking',
  'heldout-leak',
  'sampler-mismatch',
  'unstable-gradients',
  'kl-explosion',
  'no-movement',
  'entropy-collapse',
  'entropy-explosion',
  'length-explosion',
  'truncation',
  'equal-rewards',
  'blind-critic',
  'invented-tools',
  'malformed-calls',
  'loops',
  'infrastructure-failures',
  'overfitting',
] as const;

export const findingSchema = z.object({
  mode: z.enum(failureModes),
  /** `critical`: what is learned from here on is wrong or lost. */
  severity: z.enum(['warning', 'critical']),
  /** One line with the figures; a `phrase` to translate it by. */
  ...saidFields,
  /** Where to look first; null where it is no single place. `token` counts from the trajectory's first. */
  evidence: z.object({
    step: z.int().nullable(),
    trajectoryId: z.string().nullable(),
    token: z.int().nullable(),
  }),
  /** Nothing is filled into these and the remedy: each is its own template. */
  causes: z.array(z.string()),
  /** The setting to change, or what else to do. */
  remedy: z.string(),
});

/** A failure mode found in a run, with its evidence. */
export type Finding = z.infer<typeof findingSchema>;

export const nowhere: Finding['evidence'] = { step: null, trajectoryId: null, token: null };
