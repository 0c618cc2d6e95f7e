import { systemPrompt, taskPrompt } from '../../env/tools/prompts.js';
import type { ToolSchema } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { LearnedTokens, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { conversationOf, branchesOf, type ConversationMessage } from '../conversation.js';

const version = 1;

export interface TraceOptions {
  readonly tools: readonly ToolSchema[];
  /** The task's row where it is known. */
  readonly task: Task | null;
  readonly learned: LearnedTokens | null;
  /** Name of the policy, e.g. the model's folder. */
  readonly model: string;
  /** Of the run, as seconds since 1970: a record of Whetstone holds no times of single turns. */
  readonly startedAt: number;
  readonly whetstoneVersion: string;
}

/** A row of a task set of verifiers: what its `TaskData` takes. */
export function toVerifiersTask(task: Task, index: number, tools: readonly ToolSchema[]) {
  return {
    idx: index,
    name: task.instance_id,
    prompt: taskPrompt(task),
    system_prompt: systemPrompt(tools),
    instance_id: task.instance_id,
    split: task.whetstone.split,
    FAIL_TO_PASS: task.FAIL_TO_PASS,
    PASS_TO_PASS: task.PASS_TO_PASS,
  };
}

/**
 * A trajectory as a v1 trace of verifiers, which is a tree of messages with tokens too. There, values of a token stand only
 * for sampled ones, in their order; a demonstration's tokens have none, since nobody sampled them.
 */
export function toVerifiersTrace(trajectory: Trajectory, options: TraceOptions) {
  const { task, learned, tools, startedAt } = options;
  const messages = messagesByNode(trajectory.nodes);
  const offsets = offsetsOf(trajectory.nodes);
  const span = { start: startedAt, end: startedAt + trajectory.statistics.seconds };
  return {
    version,
    id: trajectory.id,
    verifiers: { version: `whetstone-${options.whetstoneVersion}` },
    task: {
      type: 'WhetstoneTask',
      data: task === null ? { idx: 0, name: trajectory.taskId, prompt: null } : toVerifiersTask(task, 0, tools),
      key: trajectory.taskId,
    },
    agent: {
      name: 'agent',
      trainable: trajectory.kind !== 'evaluation',
      config: { model: options.model, sampling: { temperature: trajectory.temperature } },
    },
    tools: tools.map(({ function: tool }) => ({ type: 'function', ...tool })),
    nodes: trajectory.nodes.map((node, index) =>
      toTraceNode(node, messages[index], learnedOf(node, offsets[index], learned), startedAt),
    ),
    rewards: rewardsOf(trajectory),
    metrics: metricsOf(trajectory),
    info: {
      kind: trajectory.kind,
      step: trajectory.step,
      policy_step: trajectory.policyStep,
      sample: trajectory.sample,
      seed: trajectory.seed,
      split: trajectory.split,
      sandbox: trajectory.sandbox,
      patch: trajectory.patch,
    },
    is_completed: trajectory.infrastructureError === null,
    ok: trajectory.infrastructureError === null,
    stop_condition: trajectory.stopReason,
    is_timeout: trajectory.stopReason === 'time-limit',
    errors:
      trajectory.infrastructureError === null
        ? []
        : [{ type: 'InfrastructureError', message: trajectory.infrastructureError }],
    timing: { start: startedAt, agent: span },
  };
}

/** Messages with unique ids of calls along each branch; nodes that branches share have the same in both. */
function messagesByNode(nodes: readonly TrajectoryNode[]): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  for (const path of branchesOf(nodes)) {
    const along = conversationOf(path.map((index) => nodes[index].message));
    path.forEach((index, position) => (messages[index] = along[position]));
  }
  return messages;
}

function offsetsOf(nodes: readonly TrajectoryNode[]): number[] {
  let next = 0;
  return nodes.map(({ tokenIds }) => {
    const offset = next;
    next += tokenIds.length;
    return offset;
  });
}

type LearnedValues = { readonly advantages: number[]; readonly reference: number[]; readonly trainer: number[] } | null;

function learnedOf(node: TrajectoryNode, offset: number, learned: LearnedTokens | null): LearnedValues {
  if (learned === null || !node.actionMask.includes(1)) return null;
  // The learner's record ends with the last sampled token.
  const own = (values: Float32Array) => sampled(node, values.subarray(offset, offset + node.tokenIds.length));
  return {
    advantages: own(learned.advantages),
    reference: own(learned.referenceLogprobs),
    trainer: own(learned.learnerLogprobs),
  };
}

const sampled = (node: TrajectoryNode, values: Float32Array) =>
  Array.from(values.filter((_, index) => node.actionMask[index] === 1));

function toTraceNode(node: TrajectoryNode, message: ConversationMessage, learned: LearnedValues, timestamp: number) {
  const logprobs = sampled(node, node.logprobs);
  const wasSampled = logprobs.length > 0 && logprobs.every(Number.isFinite);
  const known = (values: number[] | undefined) =>
    values !== undefined && values.length > 0 && values.every(Number.isFinite) ? values : null;
  return {
    parent: node.parent,
    message: toTraceMessage(message),
    sampled: wasSampled,
    timestamp,
    token_ids: Array.from(node.tokenIds),
    mask: Array.from(node.actionMask, (bit) => bit === 1),
    logprobs: wasSampled ? logprobs : [],
    advantages: known(learned?.advantages),
    reference_logprobs: known(learned?.reference),
    trainer_logprobs: known(learned?.trainer),
  };
}

function toTraceMessage(message: ConversationMessage): Readonly<Record<string, unknown>> {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: message.malformedCall === undefined ? message.content : message.raw,
        reasoning_content: message.thinking ?? null,
        tool_calls:
          message.toolCalls.length === 0
            ? null
            : message.toolCalls.map((call) => ({
                id: call.id,
                type: 'function',
                name: call.name,
                arguments: JSON.stringify(call.arguments),
              })),
      };
    case 'tool':
      return message.toolCallId === null
        ? { role: 'user', content: message.content }
        : { role: 'tool', tool_call_id: message.toolCallId, name: message.name, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}

function rewardsOf({ grade }: Trajectory): Readonly<Record<string, { score: number; weight: number }>> {
  if (grade === null) return {};
  return Object.fromEntries(
    Object.entries(grade.components).map(([name, { score, weight }]) => [name, { score, weight }]),
  );
}

function metricsOf({ grade, statistics }: Trajectory): Readonly<Record<string, number>> {
  return {
    ...(grade === null ? {} : { resolved: grade.resolved ? 1 : 0 }),
    turns: statistics.turns,
    valid_calls: statistics.validCalls,
    malformed_calls: statistics.malformedCalls,
    sampled_tokens: statistics.sampledTokens,
  };
}
