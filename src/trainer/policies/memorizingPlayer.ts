import { applyUnifiedDiff, FormatError } from '../../env/reward/unifiedPatch.js';
import type { Task } from '../../trajectory/task.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { treeHere } from '../warmStart/demonstrations.js';
import { toolCall } from '../warmStart/turnText.js';
import { attempts } from './attempts.js';
import { ScriptedDialogue } from './scriptedDialogue.js';

/** As many as an episode's turns have room for. */
const mostAttempts = 8;

/**
 * A control: a player who learned the oracles of these tasks by heart, line by line, and nothing else. It makes each that fits
 * the tree, until the tests pass. What it solves of tasks that are held out, those that it learned have given away.
 */
export const memorizingPlayer = (learned: readonly Task[]): MessagePlayer => ({
  policyStep: 0,
  async converse(opening) {
    const fitting: string[] = [];
    for (const { patch } of learned) {
      if (await fits(patch, treeHere(opening.root).read)) fitting.push(patch);
    }
    return new ScriptedDialogue(
      opening,
      attempts(
        fitting
          .slice(0, mostAttempts)
          .map((patch) => `${toolCall('apply_patch', { patch })}\n${toolCall('run_tests', {})}`),
      ),
    );
  },
});

async function fits(patch: string, read: (path: string) => Promise<string | null>): Promise<boolean> {
  try {
    return (await applyUnifiedDiff(patch, read)).length > 0;
  } catch (error) {
    if (error instanceof FormatError) return false;
    throw error;
  }
}
