import { say } from '../../trajectory/said.js';
import { isInspectLog, isZip, readInspectArchive, readInspectLog } from './inspectLog.js';
import { parseJsonOrLines, wrong } from './json.js';
import { isMiniSweAgent, readMiniSweAgent } from './miniSweAgent.js';
import { isOpenAiMessages, readOpenAiMessages } from './openaiMessages.js';
import { withSample, type ReadTrajectory } from './readTrajectory.js';
import { isSweAgent, readSweAgent } from './sweAgent.js';
import { isVerifiersTrace, readVerifiersTrace } from './verifiers.js';
import { isVerlRow, readVerlRow } from './verlDump.js';

export type ForeignFormat = 'verifiers' | 'swe-agent' | 'mini-swe-agent' | 'openai' | 'inspect' | 'verl';

export interface ForeignFile {
  readonly format: ForeignFormat;
  /** In the order of the file. Their ids differ. */
  readonly trajectories: readonly ReadTrajectory[];
}

/**
 * Reads a file of another system's trajectories; which one's, its content says. `name` is the file's own, which names the task
 * where nothing else does. Throws bad-input, one line that says where.
 */
export function readForeignTrajectories(bytes: Uint8Array, name: string): ForeignFile {
  if (isZip(bytes)) return { format: 'inspect', trajectories: distinct(readInspectArchive(bytes, name)) };
  const values = parseJsonOrLines(new TextDecoder().decode(bytes), name);
  // A JSON array may also be one conversation, or rows in an array.
  const [only] = values;
  const rows = values.length === 1 && Array.isArray(only) && !isOpenAiMessages(only) ? (only as unknown[]) : values;
  const task = taskOfFile(name);
  const read = rows.map((row, index) => {
    const where = rows.length === 1 ? name : `${name}: row ${index + 1}`;
    return readRow(row, where, task);
  });
  if (read.length === 0) throw wrong(name, say`it holds no trajectory`);
  return { format: read[0].format, trajectories: distinct(read.flatMap(({ trajectories }) => trajectories)) };
}

function readRow(row: unknown, where: string, task: string): ForeignFile {
  if (isVerifiersTrace(row)) return { format: 'verifiers', trajectories: [readVerifiersTrace(row, where, task)] };
  if (isMiniSweAgent(row)) return { format: 'mini-swe-agent', trajectories: [readMiniSweAgent(row, where, task)] };
  if (isSweAgent(row)) return { format: 'swe-agent', trajectories: [readSweAgent(row, where, task)] };
  if (isInspectLog(row)) return { format: 'inspect', trajectories: readInspectLog(row, where) };
  if (isVerlRow(row)) return { format: 'verl', trajectories: [readVerlRow(row, where, task)] };
  if (isOpenAiMessages(row)) return { format: 'openai', trajectories: [readOpenAiMessages(row, where, task)] };
  throw wrong(
    where,
    say`it is no trajectory of verifiers, SWE-agent, mini-swe-agent, Inspect or verl, and no conversation of OpenAI’s form`,
  );
}

/** The file's name without what says its format. */
const taskOfFile = (name: string) =>
  name.replace(/^.*[/\\]/, '').replace(/(\.traj)?\.(jsonl?|traj|eval)$/i, '') || 'task';

/** Trajectories of one task and step are told apart by their number. */
function distinct(read: readonly ReadTrajectory[]): ReadTrajectory[] {
  const seen = new Set<string>();
  return read.map((one) => {
    let named = one;
    for (let sample = one.trajectory.sample; seen.has(named.trajectory.id);) named = withSample(one, ++sample);
    seen.add(named.trajectory.id);
    return named;
  });
}
