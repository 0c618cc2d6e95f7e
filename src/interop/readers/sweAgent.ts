import type { StopReason } from '../../trajectory/trajectory.js';
import { readChatMessages } from './chatMessage.js';
import { isObject, listOf, numberOf, objectOf, textOf, type JsonObject } from './json.js';
import { nodesOf, readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Is this a trajectory of SWE-agent (`.traj`)? */
export const isSweAgent = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.history) && listOf(value.history).every(isObject);

/** A `.traj` of SWE-agent: the conversation is its `history`; demonstrations in it were shown, not played. */
export function readSweAgent(value: JsonObject, where: string, fallbackTask: string): ReadTrajectory {
  const info = objectOf(value.info);
  const history = listOf(value.history).map(objectOf);
  const messages = readChatMessages(history, where).map((message, index) => {
    const action = textOf(history[index].action);
    if (message.role !== 'assistant' || message.toolCalls.length > 0 || action === '') return message;
    // Models without calls of tools write their command into the text; SWE-agent parsed it out.
    return { ...message, toolCalls: [{ id: `action-${index}`, name: 'command', arguments: { command: action } }] };
  });
  const seconds = listOf(value.trajectory).reduce<number>(
    (sum, step) => sum + (numberOf(objectOf(step).execution_time) ?? 0),
    0,
  );
  return readTrajectory({
    taskId: fallbackTask,
    nodes: nodesOf(messages),
    stopReason: stopReasonOf(textOf(info.exit_status)),
    patch: textOf(info.submission).trimStart().replaceAll('\r\n', '\n'),
    seconds,
  });
}

function stopReasonOf(status: string): StopReason | undefined {
  if (status.startsWith('submitted')) return 'submitted';
  if (/context|cost/.test(status)) return 'token-limit';
  if (/time/.test(status)) return 'time-limit';
  return /error|exit_/.test(status) ? 'error' : undefined;
}
