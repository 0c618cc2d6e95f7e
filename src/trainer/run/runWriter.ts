import type { LearnedTokens, Trajectory } from '../../trajectory/trajectory.js';
import type { WriteBytes } from './appendFile.js';
import type { IndexedHeader } from './headerTable.js';
import { JsonLinesWriter } from './jsonLines.js';
import { mendHeaderIndex } from './mendHeaderIndex.js';
import type { RunPaths } from './runDirectory.js';
import type { RunEvent } from './runRecord.js';
import type { LearnedLine } from './runSchemas.js';
import { TokenFile } from './tokenFile.js';
import { headerOf, storeTrajectory, type TrajectoryLine } from './trajectoryLine.js';

type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> : never;

/** The one writer of a run directory's growing files. What a method returned from survives a kill. */
export class RunWriter {
  private readonly events: JsonLinesWriter<RunEvent>;
  private readonly trajectories: JsonLinesWriter<TrajectoryLine>;
  private readonly headers: JsonLinesWriter<IndexedHeader>;
  private readonly tokens: TokenFile;
  private readonly learnedLines: JsonLinesWriter<LearnedLine>;
  private readonly learnedTokens: TokenFile;

  /** `onChanged` is called after every line; `write` is for tests. */
  constructor(
    readonly paths: RunPaths,
    private readonly onChanged: () => void = () => undefined,
    write?: WriteBytes,
  ) {
    this.events = JsonLinesWriter.open(paths.events, write);
    this.trajectories = JsonLinesWriter.open(paths.trajectories, write);
    const missing = [...mendHeaderIndex(paths)];
    this.headers = JsonLinesWriter.open(paths.headers, write);
    for (const entry of missing) this.headers.append(entry);
    this.tokens = TokenFile.open(paths.tokens, write);
    this.learnedLines = JsonLinesWriter.open(paths.learned, write);
    this.learnedTokens = TokenFile.open(paths.learnedTokens, write);
  }

  event(event: WithoutTime<RunEvent>): void {
    this.events.append({ at: new Date().toISOString(), ...event });
    this.onChanged();
  }

  trajectory(trajectory: Trajectory): void {
    const line = storeTrajectory(trajectory, this.tokens);
    this.headers.append({ header: headerOf(line), ...this.trajectories.append(line) });
    this.onChanged();
  }

  learned(learned: LearnedTokens): void {
    const { trajectoryId, step, advantages, learnerLogprobs, referenceLogprobs, coefficients } = learned;
    const block = this.learnedTokens.append([advantages, learnerLogprobs, referenceLogprobs, coefficients]);
    this.learnedLines.append({ trajectoryId, step, block });
    this.onChanged();
  }

  close(): void {
    const lines = [this.events, this.trajectories, this.headers, this.learnedLines];
    for (const file of [...lines, this.tokens, this.learnedTokens]) {
      file.close();
    }
  }
}
