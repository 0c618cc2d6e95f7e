import type { StopReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import { say } from '../../trajectory/said.js';
import { readChatMessages } from './chatMessage.js';
import { countOf, isObject, listOf, numberOf, objectOf, textOf, wrong, type JsonObject } from './json.js';
import { readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Is this a v1 trace of verifiers? */
export const isVerifiersTrace = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.nodes) && isObject(value.task) && isObject(value.agent);

/**
 * A v1 trace of verifiers: a tree of messages with the tokens that each adds. Values of tokens stand there only for the sampled
 * ones. Throws bad-input where lists do not fit one another: nothing is padded.
 */
export function readVerifiersTrace(value: JsonObject, where: string, fallbackTask: string): ReadTrajectory {
  const info = objectOf(value.info);
  const task = objectOf(value.task);
  const data = objectOf(task.data);
  const config = objectOf(objectOf(value.agent).config);
  const entries = listOf(value.nodes).map(objectOf);
  const messages = readChatMessages(
    entries.map(({ message }) => message),
    where,
  );
  const nodes = entries.map((entry, index) => readNode(entry, messages[index], index, `${where}: node ${index + 1}`));
  const error = objectOf(listOf(value.errors)[0]);
  return readTrajectory({
    taskId: textOf(data.instance_id) || textOf(data.name) || textOf(task.key) || fallbackTask,
    nodes,
    model: textOf(config.model) || null,
    kind: oneOf(['rollout', 'evaluation', 'demonstration'], info.kind),
    step: countOf(info.step),
    policyStep: countOf(info.policy_step),
    sample: countOf(info.sample),
    seed: countOf(info.seed),
    split: oneOf(['train', 'heldout'], info.split),
    sandbox: textOf(info.sandbox) || undefined,
    temperature: numberOf(objectOf(config.sampling).temperature),
    stopReason: stopReasonOf(value),
    infrastructureError: value.ok === false && error.message !== undefined ? textOf(error.message) : null,
    rewards: rewardsOf(objectOf(value.rewards)),
    resolved: objectOf(value.metrics).resolved === 1,
    patch: textOf(info.patch),
    seconds: secondsOf(value),
    learned: learnedOf(entries, nodes),
  });
}

function oneOf<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((name) => name === value);
}

function readNode(entry: JsonObject, message: TrajectoryNode['message'], index: number, where: string): TrajectoryNode {
  const parent = entry.parent ?? null;
  if (parent !== null && (countOf(parent) === undefined || (parent as number) >= index)) {
    throw wrong(where, say`its parent does not stand before it`);
  }
  const ids = listOf(entry.token_ids);
  const mask = listOf(entry.mask);
  if (mask.length !== ids.length) throw wrong(where, say`it has ${ids.length} tokens and a mask of ${mask.length}`);
  const tokenIds = Int32Array.from(ids, (id) => countOf(id) ?? -1);
  if (tokenIds.includes(-1)) throw wrong(where, say`a token id is no whole number`);
  const actionMask = Uint8Array.from(mask, (bit) => (bit === true || bit === 1 ? 1 : 0));
  return {
    parent: parent as number | null,
    message,
    tokenIds,
    actionMask,
    logprobs: spread(entry.logprobs, actionMask, `${where}: logprobs`),
    entropies: new Float32Array(ids.length).fill(NaN),
  };
}

/** Values of the sampled tokens laid onto all: NaN elsewhere, and everywhere where there are none. */
function spread(values: unknown, mask: Uint8Array, where: string): Float32Array {
  const known = listOf(values);
  const all = new Float32Array(mask.length).fill(NaN);
  if (known.length === 0) return all;
  const places = Array.from(mask.keys()).filter((index) => mask[index] === 1);
  if (known.length !== places.length)
    throw wrong(where, say`there are ${known.length} for ${places.length} sampled tokens`);
  places.forEach((place, index) => (all[place] = numberOf(known[index]) ?? NaN));
  return all;
}

function learnedOf(entries: readonly JsonObject[], nodes: readonly TrajectoryNode[]): ReadTrajectory['learned'] {
  if (!entries.some(({ advantages }) => Array.isArray(advantages))) return null;
  const along = (field: string, elsewhere: number) =>
    Float32Array.from(
      entries.flatMap((entry, index) => {
        const { actionMask } = nodes[index];
        const values = spread(entry[field], actionMask, `node ${index + 1}: ${field}`);
        return Array.from(values, (value) => (Number.isNaN(value) ? elsewhere : value));
      }),
    );
  const advantages = along('advantages', 0);
  return {
    advantages,
    learnerLogprobs: along('trainer_logprobs', NaN),
    referenceLogprobs: along('reference_logprobs', NaN),
    // What the other trainer multiplied with, a trace does not say.
    coefficients: new Float32Array(advantages.length),
  };
}

function rewardsOf(rewards: JsonObject) {
  const scored = Object.entries(rewards).filter(([, reward]) => isObject(reward));
  if (scored.length === 0) return null;
  return Object.fromEntries(
    scored.map(([name, reward]) => {
      const { score, weight } = objectOf(reward);
      return [name, { score: numberOf(score) ?? NaN, weight: numberOf(weight) ?? 1 }];
    }),
  );
}

function stopReasonOf(value: JsonObject): Trajectory['stopReason'] | undefined {
  const own: readonly StopReason[] = [
    ...(['submitted', 'no-tool-call', 'turn-limit', 'token-limit'] as const),
    ...(['time-limit', 'cancelled', 'error'] as const),
  ];
  const condition = textOf(value.stop_condition);
  if (value.is_timeout === true) return 'time-limit';
  if (/turns/.test(condition)) return 'turn-limit';
  if (/tokens|length/.test(condition)) return 'token-limit';
  return oneOf(own, condition) ?? (/error/.test(condition) ? 'error' : undefined);
}

function secondsOf(value: JsonObject): number | undefined {
  const { start, end } = objectOf(objectOf(value.timing).agent);
  const seconds = (numberOf(end) ?? 0) - (numberOf(start) ?? 0);
  return seconds > 0 ? seconds : undefined;
}
