import type { Message } from '../../trajectory/message.js';
import type { TrajectoryNode } from '../../trajectory/trajectory.js';
import { say } from '../../trajectory/said.js';
import { countOf, isObject, listOf, numberOf, objectOf, textOf, wrong, type JsonObject } from './json.js';
import { nodesOf, readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Is this a row of verl: of a dump of generations, or an output of its agent loop? */
export const isVerlRow = (value: unknown): value is JsonObject =>
  isObject(value) &&
  ((typeof value.input === 'string' && typeof value.output === 'string') ||
    (Array.isArray(value.prompt_ids) && Array.isArray(value.response_ids)));

/**
 * A row of verl. A dump (`trainer.rollout_data_dir`) holds prompt and response as texts, the template's marks in them; an
 * output of the agent loop holds ids with the mask of what was sampled. Throws bad-input where lists do not fit.
 */
export function readVerlRow(row: JsonObject, where: string, fallbackTask: string): ReadTrajectory {
  const score = numberOf(row.score) ?? numberOf(row.reward_score);
  const turns = Array.isArray(row.prompt_ids) ? nodesOfIds(row, where) : nodesOf(messagesOfTexts(row));
  const task = [row.uid, row.instance_id, row.gts].find((value) => typeof value === 'string' && value !== '');
  return readTrajectory({
    taskId: textOf(task) || fallbackTask,
    nodes: turns,
    kind: row.step === undefined ? 'evaluation' : 'rollout',
    step: countOf(row.step),
    rewards: score === undefined ? null : { score: { score, weight: 1 } },
    resolved: score !== undefined && score >= 1,
    seconds: numberOf(objectOf(row.metrics).generate_sequences),
  });
}

const messagesOfTexts = (row: JsonObject): Message[] => [
  { role: 'user', content: textOf(row.input) },
  { role: 'assistant', content: textOf(row.output), toolCalls: [], raw: textOf(row.output) },
];

/** The response falls into turns where its mask changes: 1 is the policy's, 0 is what tools answered. */
function nodesOfIds(row: JsonObject, where: string): TrajectoryNode[] {
  const prompt = idsOf(row.prompt_ids, where);
  const response = idsOf(row.response_ids, where);
  const mask = Uint8Array.from(listOf(row.response_mask), (bit) => (bit === 1 || bit === true ? 1 : 0));
  const logprobs = listOf(row.response_logprobs);
  if (mask.length !== response.length) {
    throw wrong(where, say`it has ${response.length} ids in the response and a mask of ${mask.length}`);
  }
  if (logprobs.length !== 0 && logprobs.length !== response.length) {
    throw wrong(where, say`it has ${response.length} ids in the response and ${logprobs.length} log-probabilities`);
  }
  const nodes = [nodeOf(null, { role: 'user', content: '' }, prompt, false, () => NaN)];
  for (let start = 0; start < response.length;) {
    let end = start;
    while (end < response.length && mask[end] === mask[start]) end++;
    const message: Message =
      mask[start] === 1
        ? { role: 'assistant', content: '', toolCalls: [], raw: '' }
        : { role: 'tool', toolCallId: '', name: 'tool', content: '' };
    const first = start;
    const ids = response.slice(start, end);
    const value = (index: number) => numberOf(logprobs[first + index]) ?? NaN;
    nodes.push(nodeOf(nodes.length - 1, message, ids, mask[start] === 1, value));
    start = end;
  }
  return nodes;
}

function nodeOf(
  parent: number | null,
  message: Message,
  tokenIds: Int32Array,
  sampled: boolean,
  logprob: (index: number) => number,
): TrajectoryNode {
  return {
    parent,
    message,
    tokenIds,
    actionMask: new Uint8Array(tokenIds.length).fill(sampled ? 1 : 0),
    logprobs: Float32Array.from(tokenIds, (_, index) => (sampled ? logprob(index) : NaN)),
    entropies: new Float32Array(tokenIds.length).fill(NaN),
  };
}

function idsOf(value: unknown, where: string): Int32Array {
  const ids = Int32Array.from(listOf(value), (id) => countOf(id) ?? -1);
  if (ids.includes(-1)) throw wrong(where, say`a token id is no whole number`);
  return ids;
}
