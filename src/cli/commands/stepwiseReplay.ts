import type { Readable } from 'node:stream';
import { z } from 'zod';
import { OpenReplay, type RecordedTurn } from '../../env/replay.js';
import type { Environment } from '../../env/environment.js';
import type { EpisodeLimits } from '../../env/episodeTypes.js';
import { applyUnifiedDiff } from '../../env/reward/unifiedPatch.js';
import { listFiles } from '../../env/testing/listFiles.js';
import { readTextFile, resolveInTree } from '../../env/tools/treeFiles.js';
import type { FileChange } from '../../env/workspace/workspace.js';
import { answerRequests } from '../requestLines.js';
import type { Task } from '../../trajectory/task.js';

const requestSchema = z.discriminatedUnion('method', [
  z.object({ id: z.int(), method: z.literal('open') }),
  z.object({ id: z.int(), method: z.literal('next') }),
  z.object({ id: z.int(), method: z.literal('read'), path: z.string() }),
]);
type Request = z.infer<typeof requestSchema>;

/** Most files of the tree that are listed. */
const listedFiles = 20_000;

/**
 * A replay that another program steps through. Each line on `input` is a request, each answered by one line:
 *
 *   {"id":1,"method":"open"}               the task, its start tree's files, and the oracle's changes
 *   {"id":2,"method":"next"}               plays the next turn: {"turn":…} with the files changed by then, or {"turn":null}
 *   {"id":3,"method":"read","path":"a.js"} text of a file of the start tree: {"text":…}, null where there is none
 *
 * Answers carry the request's `id`, and `error` in place of a result. The end of `input` ends the replay, and so does
 * `signal`, also in the middle of a turn.
 */
export async function serveReplay(
  environment: Environment,
  task: Task,
  recorded: readonly RecordedTurn[],
  limits: EpisodeLimits,
  input: Readable,
  answer: (line: object) => void,
  signal: AbortSignal,
): Promise<void> {
  const replay = await OpenReplay.start(environment, task, recorded, limits);
  try {
    const server = new ReplayServer(replay, environment, task, recorded.length);
    await answerRequests(input, requestSchema, answer, (request, either) => server.handle(request, either), signal);
  } finally {
    await replay.episode.dispose();
  }
}

class ReplayServer {
  private changes: readonly FileChange[] = [];

  constructor(
    private readonly replay: OpenReplay,
    private readonly environment: Environment,
    private readonly task: Task,
    private readonly turns: number,
  ) {}

  handle(request: Request, signal: AbortSignal): Promise<object> {
    switch (request.method) {
      case 'open':
        return this.open();
      case 'next':
        return this.next(signal);
      case 'read':
        return this.startText(request.path).then((text) => ({ text }));
    }
  }

  private async open(): Promise<object> {
    const files = await listFiles(this.replay.episode.root);
    // An oracle that does not fit the tree (a task changed by hand) leaves the replay as it is.
    const oracle = await applyUnifiedDiff(this.task.patch, (path) => this.startText(path)).catch(() => []);
    return {
      task: this.task.instance_id,
      sandbox: this.environment.sandbox,
      turns: this.turns,
      files: files.slice(0, listedFiles),
      oracle,
    };
  }

  private async next(signal: AbortSignal): Promise<object> {
    const turn = await this.replay.next(signal);
    if (turn === null) return { turn: null };
    this.changes = await this.replay.episode.changes();
    return { turn: { ...turn, changes: this.changes, stopReason: this.replay.stopReason } };
  }

  /** What the turns so far did not change is on the disk as it was. */
  private async startText(path: string): Promise<string | null> {
    const changed = this.changes.find((change) => change.path === path);
    if (changed) return changed.before;
    const { root } = this.replay.episode;
    const place = await resolveInTree({ root, mountPath: root }, path);
    if ('problem' in place || place.kind !== 'file') return null;
    const content = await readTextFile(place);
    return 'text' in content ? content.text : null;
  }
}
