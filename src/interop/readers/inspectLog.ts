import { say } from '../../trajectory/said.js';
import { readChatMessages } from './chatMessage.js';
import { isObject, listOf, numberOf, objectOf, parseJson, textOf, wrong, type JsonObject } from './json.js';
import { unpack } from './unpack.js';
import { nodesOf, readTrajectory, type ReadTrajectory } from './readTrajectory.js';

/** Together, unpacked: what a log may hold at most. */
const maxBytes = 1 << 30;

/** Does the file begin as a zip does? */
export const isZip = (bytes: Uint8Array) => bytes[0] === 0x50 && bytes[1] === 0x4b;

/** Is this a log of Inspect in its JSON form? */
export const isInspectLog = (value: unknown): value is JsonObject =>
  isObject(value) && isObject(value.eval) && typeof value.status === 'string' && 'version' in value;

/** A log of Inspect in its `.eval` form: a zip with a header and a file for each sample. Throws bad-input. */
export function readInspectArchive(bytes: Uint8Array, where: string): ReadTrajectory[] {
  const files = unpack(bytes, (name) => name === 'header.json' || /^samples\/[^/]+\.json$/.test(name), maxBytes, where);
  const decode = (name: string) => parseJson(new TextDecoder().decode(files.get(name)), `${where}: ${name}`);
  if (!files.has('header.json')) throw wrong(where, say`it holds no header.json`);
  const header = objectOf(decode('header.json'));
  const samples = [...files.keys()].filter((name) => name.startsWith('samples/'));
  return samples.map((name) => readSample(header, objectOf(decode(name)), `${where}: ${name}`));
}

/** A log of Inspect in its JSON form. */
export function readInspectLog(log: JsonObject, where: string): ReadTrajectory[] {
  return listOf(log.samples).map((sample, index) => readSample(log, objectOf(sample), `${where}: sample ${index + 1}`));
}

function readSample(log: JsonObject, sample: JsonObject, where: string): ReadTrajectory {
  const header = objectOf(log.eval);
  const error = objectOf(sample.error);
  const { id } = sample;
  const scores = Object.entries(objectOf(sample.scores)).map(([name, score]) => {
    return [name, { score: valueOf(objectOf(score).value), weight: 1 }] as const;
  });
  return readTrajectory({
    taskId: `${textOf(header.task) || 'task'}/${typeof id === 'number' ? id : textOf(id) || 'sample'}`,
    nodes: nodesOf(readChatMessages(listOf(sample.messages), where)),
    model: textOf(header.model) || null,
    sample: Math.max(0, (numberOf(sample.epoch) ?? 1) - 1),
    rewards: scores.length === 0 ? null : Object.fromEntries(scores),
    resolved: scores.length > 0 && scores.every(([, { score }]) => score === 1),
    infrastructureError: error.message === undefined ? null : textOf(error.message),
    seconds: numberOf(sample.total_time),
  });
}

/** Inspect's letters for correct, partly correct, incorrect and no answer, as its own `value_to_float` reads them. */
const letters: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };

function valueOf(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return numberOf(value) ?? letters[textOf(value)] ?? NaN;
}
