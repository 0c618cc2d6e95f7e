import { z } from 'zod';
import { gradeSchema } from '../../trainer/run/trajectoryLine.js';
import { saidFields } from '../../trajectory/saidSchema.js';
import { openLineProcess } from '../lineProcess.js';
import { t } from '../translate.js';

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'user']), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    thought: z.string(),
    calls: z.array(z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })),
    content: z.string(),
  }),
  z.object({ role: z.literal('tool'), name: z.string(), content: z.string() }),
]);
const toolSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.looseObject({
    properties: z.record(
      z.string(),
      z.looseObject({ type: z.string().optional(), items: z.looseObject({ type: z.string().optional() }).optional() }),
    ),
    required: z.array(z.string()).default([]),
  }),
});
const openedSchema = z.object({
  task: z.string(),
  statement: z.string(),
  sandbox: z.string(),
  tools: z.array(toolSchema),
  /** What was said before the person has a say. */
  messages: z.array(messageSchema),
});
const endSchema = z.object({
  stopReason: z.string(),
  grade: gradeSchema.nullable(),
  infrastructureError: z.string().nullable(),
  infrastructurePhrase: saidFields.phrase,
  /** Where it was kept; null where the machine failed. */
  run: z.string().nullable(),
  trajectory: z.string().nullable(),
});
const steppedSchema = z.object({
  observations: z.array(messageSchema),
  /** Null while the episode goes on. */
  end: endSchema.nullable(),
});

export type ShownMessage = z.infer<typeof messageSchema>;
export type PersonTool = z.infer<typeof toolSchema>;
export type EpisodeEnd = z.infer<typeof endSchema>;

/** Where a person begins: behind a turn of a recorded trajectory, or at the start of a task. */
export type TakeOverPoint =
  { readonly taskId: string } | { readonly runId: string; readonly trajectoryId: string; readonly turn: number };

/** An episode that a person plays in a process of the command line. */
export interface PersonEpisode {
  readonly opened: z.infer<typeof openedSchema>;
  act(
    tool: string,
    parameters: Readonly<Record<string, unknown>>,
    thought: string,
  ): Promise<z.infer<typeof steppedSchema>>;
  /** Ends it; when this resolves, its process and its worktree are gone. */
  close(): Promise<void>;
}

export function demonstrateArguments(repoRoot: string, point: TakeOverPoint): readonly string[] {
  const begin = ['demonstrate', '--repo', repoRoot];
  return 'taskId' in point
    ? [...begin, `--task=${point.taskId}`]
    : [...begin, '--turn', String(point.turn), '--', point.runId, point.trajectoryId];
}

/** Opens a fresh worktree, brought to where the person begins. Rejects with what the process said. */
export async function openPersonEpisode(
  { cli, repoRoot }: { readonly cli: string; readonly repoRoot: string },
  point: TakeOverPoint,
  signal?: AbortSignal,
): Promise<PersonEpisode> {
  const { process, opened } = await openLineProcess(
    { cli, repoRoot, args: demonstrateArguments(repoRoot, point), name: t('The episode') },
    async (episode) => openedSchema.parse(await episode.ask('open')),
    signal,
  );
  return {
    opened,
    act: async (tool, parameters, thought) =>
      steppedSchema.parse(await process.ask('act', { tool, arguments: parameters, thought })),
    close: () => process.close(),
  };
}
