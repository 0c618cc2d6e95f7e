import type { AssistantMessage, Message, ToolCall } from '../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../trajectory/trajectory.js';

/** A call whose id no other call of its conversation has: a policy's own ids count anew in each turn. */
export interface ConversationCall extends ToolCall {
  readonly id: string;
}

/** A message as other systems take it. An observation of a turn that called no tool has no `toolCallId`. */
export type ConversationMessage =
  | Extract<Message, { role: 'system' | 'user' }>
  | (Omit<AssistantMessage, 'toolCalls'> & { readonly toolCalls: readonly ConversationCall[] })
  | { readonly role: 'tool'; readonly toolCallId: string | null; readonly name: string; readonly content: string };

/** Indices of the nodes of each path from a root to a leaf, in the order of the leaves. */
export function branchesOf(nodes: readonly Pick<TrajectoryNode, 'parent'>[]): number[][] {
  const parents = new Set(nodes.map(({ parent }) => parent));
  return nodes.flatMap((_, leaf) => {
    if (parents.has(leaf)) return [];
    const path: number[] = [];
    for (let at: number | null = leaf; at !== null; at = nodes[at].parent) path.unshift(at);
    return [path];
  });
}

/**
 * The messages along a path with ids of calls that are unique in it. Each observation is tied to the call of the turn
 * before it that it answers: by its id, and only once.
 */
export function conversationOf(messages: readonly Message[]): ConversationMessage[] {
  let turn = 0;
  let open: { id: string; own: string }[] = [];
  return messages.map((message): ConversationMessage => {
    if (message.role === 'assistant') {
      turn += 1;
      const calls = message.toolCalls.map((call, index) => ({ ...call, id: `call_${turn}_${index}` }));
      open = message.toolCalls.map((call, index) => ({ id: calls[index].id, own: call.id }));
      return { ...message, toolCalls: calls };
    }
    if (message.role !== 'tool') return message;
    const answered = open.find(({ own }) => own === message.toolCallId);
    open = open.filter((call) => call !== answered);
    return { role: 'tool', toolCallId: answered?.id ?? null, name: message.name, content: message.content };
  });
}

/** The conversations of a trajectory, one a branch. */
export function conversationsOf(
  trajectory: Trajectory,
): { nodes: TrajectoryNode[]; messages: ConversationMessage[] }[] {
  return branchesOf(trajectory.nodes).map((path) => {
    const nodes = path.map((index) => trajectory.nodes[index]);
    return { nodes, messages: conversationOf(nodes.map(({ message }) => message)) };
  });
}
