import type { AttemptResult } from './attempt.js';
import type { BugCandidate } from './injection/candidates.js';
import { filesThatNotice, tryBug, type TrialContext } from './injectionTrial.js';
import type { TestSelector } from './selection/testSelector.js';
import { SILENT } from './trial.js';

/**
 * Tries bugs with the tests that are close to them. Where those notice nothing, more are run once; those that notice then
 * grade this bug and the next ones of the same function.
 */
export class ScoutingTrial {
  private readonly noticing = new Map<string, readonly string[]>();

  constructor(
    private readonly context: TrialContext,
    private readonly selector: Pick<TestSelector, 'filesFor' | 'filesToScout'>,
  ) {}

  async try(bug: BugCandidate): Promise<AttemptResult> {
    const scope = `${bug.path}:${bug.scopeLine}`;
    const files = await this.selector.filesFor([bug.path], this.noticing.get(scope));
    const result = await tryBug(this.context, bug, files);
    if (!('invalid' in result) || result.invalid !== SILENT) return result;
    const more = await this.selector.filesToScout([bug.path]);
    if (more.every((file) => files.includes(file))) return result;
    const noticing = await filesThatNotice(this.context, bug, more);
    if (noticing.length === 0) return result;
    this.noticing.set(scope, noticing);
    return tryBug(this.context, bug, await this.selector.filesFor([bug.path], noticing));
  }
}
