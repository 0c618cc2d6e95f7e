import type { StopReason } from '../../trajectory/trajectory.js';
import { readChatMessages } from './chatMessage.js';
import { isObject, listOf, objectOf, textOf, type JsonObject } from './json.js';
import { nodesOf, readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Is this a trajectory of mini-swe-agent (`.traj.json`)? */
export const isMiniSweAgent = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.messages) && textOf(value.trajectory_format).startsWith('mini-swe-agent');

/** A `.traj.json` of mini-swe-agent. Its last message, by which a run ends, has a role of its own. */
export function readMiniSweAgent(value: JsonObject, where: string, fallbackTask: string): ReadTrajectory {
  const info = objectOf(value.info);
  const model = objectOf(objectOf(info.config).model);
  const played = listOf(value.messages)
    .map(objectOf)
    .filter(({ role }) => role !== 'exit');
  const messages = readChatMessages(played, where).map((message, index) => {
    const actions = listOf(objectOf(played[index].extra).actions).map(objectOf);
    if (message.role !== 'assistant' || message.toolCalls.length > 0 || actions.length === 0) return message;
    const toolCalls = actions.map(({ command }, number) => ({
      id: `action-${index}-${number}`,
      name: 'bash',
      arguments: { command: textOf(command) },
    }));
    return { ...message, toolCalls };
  });
  return readTrajectory({
    taskId: textOf(value.instance_id) || fallbackTask,
    nodes: nodesOf(messages),
    model: textOf(model.model_name) || null,
    stopReason: stopReasons[textOf(info.exit_status)],
    patch: textOf(info.submission),
  });
}

const stopReasons: Readonly<Record<string, StopReason | undefined>> = {
  Submitted: 'submitted',
  LimitsExceeded: 'turn-limit',
  TimeExceeded: 'time-limit',
};
