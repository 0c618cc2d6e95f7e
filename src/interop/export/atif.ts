import type { ToolSchema } from '../../trajectory/message.js';
import type { Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { conversationsOf, type ConversationMessage } from '../conversation.js';

const schemaVersion = 'ATIF-v1.8';

export interface AtifOptions {
  readonly runId: string;
  readonly model: string;
  readonly whetstoneVersion: string;
  readonly tools: readonly ToolSchema[];
}

interface Step {
  step_id: number;
  source: 'system' | 'user' | 'agent';
  message: string;
  [field: string]: unknown;
}

/** A trajectory in the Agent Trajectory Interchange Format, one document a branch. Turns hold their observations. */
export function toAtif(trajectory: Trajectory, options: AtifOptions) {
  const conversations = conversationsOf(trajectory);
  return conversations.map(({ nodes, messages }, branch) => ({
    schema_version: schemaVersion,
    session_id: options.runId,
    trajectory_id: conversations.length === 1 ? trajectory.id : `${trajectory.id}#${branch}`,
    agent: {
      name: 'whetstone',
      version: options.whetstoneVersion,
      model_name: options.model,
      tool_definitions: options.tools,
    },
    steps: stepsOf(nodes, messages),
    final_metrics: {
      total_prompt_tokens: promptTokens(nodes),
      total_completion_tokens: count(nodes, isSampled),
      total_steps: messages.filter(({ role }) => role !== 'tool').length,
    },
    extra: {
      task_id: trajectory.taskId,
      split: trajectory.split,
      reward: trajectory.grade?.reward ?? null,
      resolved: trajectory.grade?.resolved ?? null,
      stop_reason: trajectory.stopReason,
      infrastructure_error: trajectory.infrastructureError,
      patch: trajectory.patch,
    },
  }));
}

function stepsOf(nodes: readonly TrajectoryNode[], messages: readonly ConversationMessage[]): Step[] {
  const steps: Step[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'tool') {
      const step = steps.at(-1);
      const result = { source_call_id: message.toolCallId, content: message.content };
      if (step?.source === 'agent') {
        const { results } = (step.observation ?? { results: [] }) as { results: unknown[] };
        step.observation = { results: [...results, result] };
        return;
      }
    }
    const step_id = steps.length + 1;
    steps.push(
      message.role === 'assistant'
        ? { step_id, source: 'agent', ...agentStep(message, nodes[index], nodes.slice(0, index)) }
        : { step_id, source: message.role === 'system' ? 'system' : 'user', message: message.content },
    );
  });
  return steps;
}

function agentStep(
  message: Extract<ConversationMessage, { role: 'assistant' }>,
  node: TrajectoryNode,
  before: readonly TrajectoryNode[],
) {
  const ids = Array.from(node.tokenIds.filter((_, index) => node.actionMask[index] === 1));
  const logprobs = Array.from(node.logprobs.filter((_, index) => node.actionMask[index] === 1));
  return {
    message: message.malformedCall === undefined ? message.content : message.raw,
    llm_call_count: 1,
    ...(message.thinking === undefined ? {} : { reasoning_content: message.thinking }),
    ...(message.toolCalls.length === 0
      ? {}
      : {
          tool_calls: message.toolCalls.map((call) => ({
            tool_call_id: call.id,
            function_name: call.name,
            arguments: call.arguments,
          })),
        }),
    metrics: {
      prompt_tokens: count(before, () => true) + node.tokenIds.length - ids.length,
      completion_tokens: ids.length,
      ...(ids.length === 0 ? {} : { completion_token_ids: ids }),
      ...(logprobs.length > 0 && logprobs.every(Number.isFinite) ? { logprobs } : {}),
    },
  };
}

const isSampled = (node: TrajectoryNode, index: number) => node.actionMask[index] === 1;

function count(nodes: readonly TrajectoryNode[], counts: (node: TrajectoryNode, index: number) => boolean): number {
  return nodes.reduce((sum, node) => sum + node.tokenIds.filter((_, index) => counts(node, index)).length, 0);
}

/** Tokens that were read over all turns: each turn reads everything before it. */
function promptTokens(nodes: readonly TrajectoryNode[]): number {
  let total = 0;
  let before = 0;
  for (const node of nodes) {
    if (node.message.role === 'assistant') total += before + node.actionMask.filter((bit) => bit === 0).length;
    before += node.tokenIds.length;
  }
  return total;
}
