import { z } from 'zod';
import { openLineProcess } from '../lineProcess.js';
import { t } from '../translate.js';
import { changeSchema, replayArguments, turnSchema, type ReplayRequest } from './replayProcess.js';

const steppedTurnSchema = turnSchema.omit({ call: true }).extend({
  /** For each observation, what went wrong with the call in one line; null where it went well. */
  failures: z.array(z.string().nullable()),
  /** Files changed by the end of the turn, against the start tree. */
  changes: z.array(changeSchema),
  /** Why the episode is over; null while it goes on. */
  stopReason: z.string().nullable(),
});
const openedSchema = z.object({
  task: z.string(),
  sandbox: z.string(),
  /** Recorded turns. */
  turns: z.int(),
  /** Files of the start tree, with `/`, sorted. */
  files: z.array(z.string()),
  /** What the task's oracle changes of the start tree. */
  oracle: z.array(changeSchema),
});
const nextSchema = z.object({ turn: steppedTurnSchema.nullable() });
const readSchema = z.object({ text: z.string().nullable() });

export type SteppedTurn = z.infer<typeof steppedTurnSchema>;
export type OpenedReplay = z.infer<typeof openedSchema>;
export type FileChange = z.infer<typeof changeSchema>;

/** A replay that is stepped through: each turn is played once, forwards, when it is first asked for. */
export interface SteppedReplay {
  readonly opened: OpenedReplay;
  /** Plays the next turn; null where there is none. */
  next(): Promise<SteppedTurn | null>;
  /** Text of a file of the start tree; null where it is no text file or is not there. */
  startText(path: string): Promise<string | null>;
  /** Ends it; when this resolves, its process and its worktree are gone. */
  close(): Promise<void>;
}

/** Opens a fresh worktree in a child process of the bundled command line. Rejects with what the process said. */
export async function openSteppedReplay(
  request: Omit<ReplayRequest, 'until'>,
  signal?: AbortSignal,
): Promise<SteppedReplay> {
  const { cli, repoRoot } = request;
  const args = ['replay', '--stepwise', ...replayArguments(request)];
  const { process, opened } = await openLineProcess(
    { cli, repoRoot, args, name: t('The replay') },
    async (replay) => openedSchema.parse(await replay.ask('open')),
    signal,
  );
  return {
    opened,
    next: async () => nextSchema.parse(await process.ask('next')).turn,
    startText: async (path) => readSchema.parse(await process.ask('read', { path })).text,
    close: () => process.close(),
  };
}
