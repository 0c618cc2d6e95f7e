import { say } from '../../trajectory/said.js';
import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import type { Detector } from './detector.js';
import { nowhere, type Finding } from './finding.js';

/**
 * Gradient on tokens that the policy did not sample (a leak), or none on tokens that it did (the mask is off). Looks at
 * what is stored, whatever wrote it: a token was sampled where it stands in an assistant's message and has the
 * sampler's log-probability.
 */
export class MaskDetector implements Detector {
  private leaks = 0;
  private firstLeak: Finding['evidence'] | null = null;
  private leakingRole = '';
  private sampled = 0;
  private unmasked = 0;
  private firstUnmasked: Finding['evidence'] | null = null;

  onTrajectory(trajectory: Trajectory, learned: LearnedTokens | null): void {
    const isDemonstration = trajectory.kind === 'demonstration';
    let at = 0;
    for (const { message, tokenIds, actionMask, logprobs } of trajectory.nodes) {
      for (let index = 0; index < tokenIds.length; index++, at++) {
        const wasSampled = message.role === 'assistant' && (isDemonstration || Number.isFinite(logprobs[index]));
        const pushes = actionMask[index] === 1 || (learned !== null && learned.coefficients[at] !== 0);
        if (wasSampled) {
          this.sampled++;
          if (actionMask[index] === 1) continue;
          this.unmasked++;
          this.firstUnmasked ??= { step: trajectory.step, trajectoryId: trajectory.id, token: at };
        } else if (pushes) {
          this.leaks++;
          if (this.firstLeak === null) this.leakingRole = message.role;
          this.firstLeak ??= { step: trajectory.step, trajectoryId: trajectory.id, token: at };
        }
      }
    }
  }

  findings(): Finding[] {
    const found: Finding[] = [];
    if (this.firstLeak !== null) {
      found.push({
        mode: 'mask-leak',
        severity: 'critical',
        ...say`${this.leaks} tokens that the policy did not sample are learned from, first one of a message of the ${this.leakingRole}.`,
        evidence: this.firstLeak,
        causes: [
          'Observations, prompts or the template’s separators have mask 1.',
          'The record was made or changed by something else.',
        ],
        remedy: 'Do not use this run: start a new one, and look at the token with `whetstone mask`.',
      });
    }
    if (this.unmasked > 0) {
      found.push({
        mode: 'mask-off',
        severity: 'critical',
        ...say`${this.unmasked} of ${this.sampled} sampled tokens have mask 0, so nothing is learned from them.`,
        evidence: this.firstUnmasked ?? nowhere,
        causes: ['The mask is switched off or shifted against the tokens.'],
        remedy: 'Do not use this run: start a new one, and look at the token with `whetstone mask`.',
      });
    }
    return found;
  }
}
