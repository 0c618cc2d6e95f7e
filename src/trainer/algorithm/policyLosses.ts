import { cispoCoefficients } from './cispo.js';
import { dapoCoefficients, type DapoOptions } from './dapo.js';
import { drGrpoCoefficients, type DrGrpoOptions } from './drGrpo.js';
import { grpoCoefficients, type GrpoOptions } from './grpo.js';
import { gspoCoefficients } from './gspo.js';
import type { PolicyGradient, PolicyTrajectory } from './policyGradient.js';

export const policyLossNames = ['grpo', 'dr-grpo', 'dapo', 'gspo', 'cispo'] as const;
export type PolicyLoss = (typeof policyLossNames)[number];

/** What one or another of the losses needs to know of the step. */
export type PolicyLossOptions = GrpoOptions & DrGrpoOptions & DapoOptions;

/** The losses that a training can choose between, by the names that its settings use. */
export const policyLosses: Readonly<
  Record<PolicyLoss, (trajectory: PolicyTrajectory, options: PolicyLossOptions) => PolicyGradient>
> = {
  grpo: grpoCoefficients,
  'dr-grpo': drGrpoCoefficients,
  dapo: dapoCoefficients,
  gspo: gspoCoefficients,
  cispo: cispoCoefficients,
};
