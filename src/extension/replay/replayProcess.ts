import { z } from 'zod';
import { runCli } from '../cliProcess.js';

export const turnSchema = z.object({
  /** 1-based. */
  turn: z.int(),
  /** Whether the tools answered as recorded. */
  same: z.boolean(),
  /** The turn's tool calls in words. */
  call: z.string(),
  recorded: z.array(z.string()),
  observed: z.array(z.string()),
  /** Hunks of a unified diff from the recorded to the observed text. */
  diff: z.string(),
});
export const changeSchema = z.object({
  /** Relative to the repository's root, with `/`. */
  path: z.string(),
  /** The file's text in the task's tree, and after the last played turn; null where it is not there. */
  before: z.string().nullable(),
  after: z.string().nullable(),
});
/** What `whetstone replay --json` prints, as far as it is read here. */
const replaySchema = z.looseObject({ turns: z.array(turnSchema), changes: z.array(changeSchema) });

/** What a replay found, turn by turn. */
export type Replay = z.infer<typeof replaySchema>;
export type ReplayedTurn = z.infer<typeof turnSchema>;

export interface ReplayRequest {
  /** The bundled command line. */
  readonly cli: string;
  readonly repoRoot: string;
  readonly runId: string;
  readonly trajectoryId: string;
  /** Last turn to play; all where it is absent. */
  readonly until?: number;
}

/** What the command `replay` is told beside how to answer. */
export function replayArguments({ repoRoot, runId, trajectoryId, until }: ReplayRequest): string[] {
  const untilTurn = until === undefined ? [] : ['--until', String(until)];
  return ['--repo', repoRoot, ...untilTurn, '--', runId, trajectoryId];
}

/** Plays a trajectory again in a fresh worktree, in a child process; ends and rejects as `runCli` does. */
export function runReplay(request: ReplayRequest, signal: AbortSignal): Promise<Replay> {
  const { cli, repoRoot } = request;
  return runCli({ cli, repoRoot, args: ['replay', '--json', ...replayArguments(request)] }, replaySchema, signal);
}
