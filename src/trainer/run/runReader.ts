import { existsSync } from 'node:fs';
import { open, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { taskSchema } from '../../env/tasks/taskSchema.js';
import { badInput, WhetstoneError } from '../../trajectory/errors.js';
import { say, saidOf, type Said } from '../../trajectory/said.js';
import type { Task } from '../../trajectory/task.js';
import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import { EventLog } from './eventLog.js';
import { readHeaderIndex } from './headerIndex.js';
import type { HeaderTable } from './headerTable.js';
import { JsonLinesReader } from './jsonLines.js';
import { LearnedTable } from './learnedTable.js';
import { problemOf } from './problemOf.js';
import { runPaths, runsFolder, type RunPaths } from './runDirectory.js';
import type { RunConfig, RunEvent, RunStatus, RunSummary, Stage, TrajectoryHeader } from './runRecord.js';
import { learnedLineSchema, runConfigSchema, runEventSchema, type LearnedLine } from './runSchemas.js';
import { readTokenBlock } from './tokenFile.js';
import { headerOf, restoreTrajectory, trajectoryLineSchema } from './trajectoryLine.js';
import { trainLockHolder } from './trainLockHolder.js';

/** One folder's name; anything else could lead out of the runs folder. */
const runId = /^[\w-][\w.-]*$/;

/** The runs of a repository, newest first. One whose files are broken is listed with what is wrong. */
export async function listRuns(stateFolder: string): Promise<RunSummary[]> {
  const names = await readdir(runsFolder(stateFolder)).catch(() => []);
  const runs = names.filter((name) => existsSync(runPaths(path.join(runsFolder(stateFolder), name)).config));
  // A folder of another name, such as a copy that somebody made, is no run.
  const ids = runs.filter((name) => runId.test(name)).sort((a, b) => (a < b ? 1 : -1));
  return Promise.all(ids.map((id) => summaryOrProblem(openRun(stateFolder, id))));
}

async function summaryOrProblem(run: RunReader): Promise<RunSummary> {
  return run.summary().catch((error: unknown) => {
    if (!(error instanceof WhetstoneError)) throw error;
    const { id, paths } = run;
    return {
      id,
      folder: paths.folder,
      status: 'failed',
      stage: null,
      step: 0,
      steps: 0,
      createdAt: '',
      ...error.said,
    };
  });
}

/** Opens a run to be read, also while it grows. Throws bad-input where there is no such run. */
export function openRun(stateFolder: string, id: string): RunReader {
  const folder = path.join(runsFolder(stateFolder), id);
  if (!runId.test(id) || !existsSync(runPaths(folder).config)) {
    throw badInput(say`No run ${JSON.stringify(id)} in ${runsFolder(stateFolder)}.`, 'See `whetstone runs list`.');
  }
  return new RunReader(stateFolder, id, runPaths(folder));
}

/**
 * Reads a run directory. It remembers how far it has read: every call returns the whole record so far at the cost of
 * what is new. Records that a resumed run wrote again replace the earlier ones of the same id or step.
 */
export class RunReader {
  private readonly eventLines: JsonLinesReader<RunEvent>;
  private readonly trajectoryLines: JsonLinesReader<TrajectoryHeader>;
  private readonly learnedLines: JsonLinesReader<LearnedLine>;
  private readonly seenEvents = new EventLog();
  private indexed?: Promise<HeaderTable>;
  private readonly learnedTable = new LearnedTable();

  constructor(
    private readonly stateFolder: string,
    readonly id: string,
    readonly paths: RunPaths,
  ) {
    this.eventLines = new JsonLinesReader(paths.events, (value) => runEventSchema.parse(value));
    this.trajectoryLines = new JsonLinesReader(paths.trajectories, (value) =>
      headerOf(trajectoryLineSchema.parse(value)),
    );
    this.learnedLines = new JsonLinesReader(paths.learned, (value) => learnedLineSchema.parse(value));
  }

  /** Throws bad-input where it is broken. */
  async config(): Promise<RunConfig> {
    return readRecord(this.paths.config, runConfigSchema);
  }

  /** The tasks of the run; empty until they are settled. Throws bad-input where they are broken. */
  async tasks(): Promise<Task[]> {
    return existsSync(this.paths.tasks) ? readRecord(this.paths.tasks, z.array(taskSchema)) : [];
  }

  /**
   * All events in the order they were written, repeated steps of a resumed run included. Where the progress of one thing was
   * told several times in a row, its newest state stands in each place.
   */
  async events(): Promise<readonly RunEvent[]> {
    await this.eventLines.read(({ value }) => this.seenEvents.add(value));
    return this.seenEvents.events;
  }

  /** The step events, one a step, in order. */
  async steps(): Promise<Extract<RunEvent, { type: 'step' }>[]> {
    const events = (await this.events()).filter((event) => event.type === 'step');
    const last = new Map(events.map((event) => [event.step, event]));
    return [...last.values()].sort((a, b) => a.step - b.step);
  }

  /** What each step was going to play and why, one a step and round, in order. */
  async plans(): Promise<Extract<RunEvent, { type: 'plan' }>[]> {
    const events = (await this.events()).filter((event) => event.type === 'plan');
    const last = new Map(events.map((event) => [`${event.step} ${event.round}`, event]));
    return [...last.values()].sort((a, b) => a.step - b.step || a.round - b.round);
  }

  /** The evaluations, one a step and split, in order. */
  async evaluations(): Promise<Extract<RunEvent, { type: 'evaluation' }>[]> {
    const events = (await this.events()).filter((event) => event.type === 'evaluation');
    const last = new Map(events.map((event) => [`${event.step} ${event.split}`, event]));
    return [...last.values()].sort((a, b) => a.step - b.step);
  }

  /**
   * One header a trajectory, of those that are wanted, in the order they were first written. Where all are, the array grows with
   * the run, and to ask again is cheap for whoever holds it.
   */
  async headers(isWanted?: (header: TrajectoryHeader) => boolean): Promise<readonly TrajectoryHeader[]> {
    const table = await this.readHeaders();
    if (isWanted === undefined) return table.all();
    const wanted: TrajectoryHeader[] = [];
    for (const header of table.each()) if (isWanted(header)) wanted.push(header);
    return wanted;
  }

  /** The ids of all trajectories, to be asked for one or the other. */
  async ids(): Promise<Pick<HeaderTable, 'has'>> {
    return this.readHeaders();
  }

  /** Throws bad-input where the run has no such trajectory. */
  async trajectory(id: string): Promise<Trajectory> {
    const found = await this.findTrajectory(id);
    if (found !== null) return found;
    throw badInput(
      say`Run ${this.id} has no trajectory ${JSON.stringify(id)}.`,
      say`See \`whetstone runs show ${this.id}\`.`,
    );
  }

  /** Null where the run has no such trajectory. */
  async findTrajectory(id: string): Promise<Trajectory | null> {
    const index = await this.readHeaders();
    const entry = index.place(id);
    if (entry === undefined) return null;
    const line = Buffer.alloc(entry.length);
    const handle = await open(this.paths.trajectories, 'r');
    try {
      await handle.read(line, 0, entry.length, entry.offset);
    } finally {
      await handle.close();
    }
    const parsed = trajectoryLineSchema.parse(JSON.parse(line.toString('utf8')));
    // A branch is written behind what it comes from, so this comes to an end.
    const from = parsed.origin && index.place(parsed.origin.trajectoryId);
    if (from && from.offset >= entry.offset) throw this.branchOfNothing(id);
    const shared = parsed.origin && (await this.findTrajectory(parsed.origin.trajectoryId));
    if (shared === null) throw this.branchOfNothing(id);
    return restoreTrajectory(parsed, this.paths.tokens, shared?.nodes);
  }

  private branchOfNothing(id: string): WhetstoneError {
    return badInput(
      say`${this.paths.trajectories}: what ${id} is a branch of does not stand before it.`,
      'The file was changed by something else; restore it or delete the run.',
    );
  }

  private async readHeaders(): Promise<HeaderTable> {
    this.indexed ??= this.readIndex();
    const table = await this.indexed;
    await this.trajectoryLines.read(({ value: header, ...place }) => table.add({ header, ...place }));
    return table;
  }

  private async readIndex(): Promise<HeaderTable> {
    const { table, end } = await readHeaderIndex(this.paths);
    this.trajectoryLines.skipTo(end);
    return table;
  }

  /** What the learner found out about a trajectory; null where it has not learned from it. */
  async learned(id: string): Promise<LearnedTokens | null> {
    await this.learnedLines.read(({ value }) => this.learnedTable.add(value));
    const line = this.learnedTable.of(id);
    if (line === undefined) return null;
    const kinds = ['float32', 'float32', 'float32', 'float32'] as const;
    const arrays = await readTokenBlock(this.paths.learnedTokens, line.block, kinds);
    const [advantages, learnerLogprobs, referenceLogprobs, coefficients] = arrays;
    return { trajectoryId: id, step: line.step, advantages, learnerLogprobs, referenceLogprobs, coefficients };
  }

  async summary(): Promise<RunSummary> {
    const config = await this.config();
    // A training locks, then writes, then unlocks: only one that is dead holds the lock neither before nor after a look.
    const lived = await this.isLive();
    const events = await this.events();
    const alive = lived || (await this.isLive());
    return {
      id: this.id,
      folder: this.paths.folder,
      createdAt: config.createdAt,
      steps: config.settings.steps,
      ...summarizeEvents(events, alive),
    };
  }

  private async isLive(): Promise<boolean> {
    const holder = await trainLockHolder(this.stateFolder);
    return holder?.activity === 'training' && holder.runId === this.id;
  }
}

/** A file of one record, checked. */
async function readRecord<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    throw badInput(say`${file} is broken (${problemOf(error)}).`, 'Restore it or delete the run.', error);
  }
}

/** What the events say about where a run stands; `alive`: its process runs. */
export function summarizeEvents(
  events: readonly RunEvent[],
  alive: boolean,
): { status: RunStatus; stage: Stage | null; step: number } & Said {
  let status: RunStatus = 'running';
  let stage: Stage | null = null;
  let step = 0;
  let said: Said = { message: '' };
  for (const event of events) {
    if (event.type === 'started') [status, said] = ['running', { message: '' }];
    else if (event.type === 'stage') stage = event.stage;
    else if (event.type === 'progress') said = event;
    else if (event.type === 'step') step = event.step;
    else if (event.type === 'paused') status = 'paused';
    else if (event.type === 'resumed') status = 'running';
    else if (event.type === 'finished') [status, said] = [event.status, event];
  }
  const over = status === 'completed' || status === 'stopped' || status === 'failed';
  return { status: over || alive ? status : 'interrupted', stage, step, ...saidOf(said) };
}
