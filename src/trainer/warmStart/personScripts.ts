import type { AssistantMessage } from '../../trajectory/message.js';
import type { Task } from '../../trajectory/task.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import type { PersonDemonstration } from '../demonstrations/demonstrationsRun.js';
import type { EpisodePlan } from '../rollout/episodePlan.js';
import { demonstrationPlans } from '../rollout/plans.js';
import type { TextCodec } from '../text/textCodec.js';

/** A person's demonstration as an episode to be played again: its turns in the policy's own tokens. */
export interface PersonScript {
  readonly plan: EpisodePlan;
  readonly turns: readonly Int32Array[];
  /** The first so many turns are not the person's: they are shown, and not learned from. */
  readonly given: number;
}

/** The demonstrations of these tasks that the policy can write; they are numbered behind the expert's episode of the task. */
export function personScripts(
  demonstrations: readonly PersonDemonstration[],
  tasks: readonly Task[],
  codec: TextCodec,
): PersonScript[] {
  const byId = new Map(tasks.map((task) => [task.instance_id, task]));
  return demonstrations.flatMap(({ taskId, sample: number, turns, given }) => {
    const task = byId.get(taskId);
    if (task === undefined || !turns.every((turn) => isWritten(codec, turn))) return [];
    const sample = number + 1;
    const [expert] = demonstrationPlans([task]);
    const plan = { ...expert, id: `demonstration/${taskId}/${sample}`, sample };
    return [{ plan, turns: turns.map((turn) => codec.encodeMessage(turn)), given }];
  });
}

/** A turn whose calls are other ones when they are read again cannot be played in these tokens. */
function isWritten(codec: TextCodec, turn: AssistantMessage): boolean {
  const callsOf = ({ toolCalls }: AssistantMessage) =>
    JSON.stringify(toolCalls.map(({ name, arguments: args }) => [name, args]));
  return turn.toolCalls.length > 0 && callsOf(codec.parseTurn(codec.encodeMessage(turn))) === callsOf(turn);
}

/** The trajectory as the learner is to see it: what the person did not say is history, like what a branch shares. */
export function learnedFromPerson(trajectory: Trajectory, given: number): Trajectory {
  if (given === 0) return trajectory;
  const turns = trajectory.nodes.flatMap(({ message }, index) => (message.role === 'assistant' ? [index] : []));
  const nodes = turns[given] ?? trajectory.nodes.length;
  return { ...trajectory, origin: { trajectoryId: trajectory.id, turn: given, nodes, policy: 'person' } };
}
