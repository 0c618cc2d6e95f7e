import { isTurn, type AssistantMessage, type ToolMessage } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { t } from '../translate.js';

/** One sampled assistant message and the observations it got. */
export interface Turn {
  /** 1-based. */
  readonly number: number;
  readonly message: AssistantMessage;
  readonly observations: readonly ToolMessage[];
}

/**
 * The nodes from the root to the last leaf, in order. Where the policy was shown its history anew on the way, all nodes: they
 * lie in the order they were played, and what came before is not to be lost.
 */
export function pathOfNodes(trajectory: Trajectory): readonly TrajectoryNode[] {
  if (trajectory.nodes.some(({ branch }) => branch !== undefined)) return trajectory.nodes;
  const path: TrajectoryNode[] = [];
  let at: number | null = trajectory.nodes.length - 1;
  while (at !== null && at >= 0) {
    const node: TrajectoryNode = trajectory.nodes[at];
    path.push(node);
    at = node.parent;
  }
  return path.reverse();
}

export function turnsOf(trajectory: Trajectory): readonly Turn[] {
  const turns: { number: number; message: AssistantMessage; observations: ToolMessage[] }[] = [];
  for (const { message } of pathOfNodes(trajectory)) {
    if (isTurn(message)) turns.push({ number: turns.length + 1, message, observations: [] });
    else if (message.role === 'tool') turns.at(-1)?.observations.push(message);
  }
  return turns;
}

/** What a turn did, in a few words: `edit src/sum.js`. */
export function turnLabel(message: AssistantMessage): { action: string; detail: string } {
  const [call] = message.toolCalls;
  if (!call)
    return { action: message.malformedCall ? t('malformed call') : t('message'), detail: oneLine(message.content) };
  const detail = Object.values(call.arguments).find((value) => typeof value === 'string');
  const more = message.toolCalls.length > 1 ? ` ${t('and {0} more', message.toolCalls.length - 1)}` : '';
  return { action: `${oneLine(call.name)}${more}`, detail: oneLine(detail ?? '') };
}

/** Text of unknown origin on one short line. */
function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
