import { z } from 'zod';
import type { Grade } from '../../trajectory/grade.js';
import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import { saidFields } from '../../trajectory/saidSchema.js';
import type { Message } from '../../trajectory/message.js';
import type { BranchOrigin, StopReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';
import type { TrajectoryHeader } from './runRecord.js';
import { readTokenBlock, type TokenBlock, type TokenFile } from './tokenFile.js';

const count = z.int().nonnegative();
export const tokenBlockSchema: z.ZodType<TokenBlock> = z.object({ offset: count, tokens: count });

const messageSchema: z.ZodType<Message> = z.discriminatedUnion('role', [
  z.object({ role: z.literal('system'), content: z.string() }),
  z.object({ role: z.literal('user'), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    thinking: z.string().optional(),
    toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.record(z.string(), z.unknown()) })),
    malformedCall: z.string().optional(),
    aside: z.literal('summary').optional(),
    raw: z.string(),
  }),
  z.object({ role: z.literal('tool'), toolCallId: z.string(), name: z.string(), content: z.string() }),
]);

const testStatus = z.enum(['passed', 'failed', 'skipped', 'missing']);
export const gradeSchema: z.ZodType<Grade> = z.object({
  reward: z.number(),
  resolved: z.boolean(),
  fraction: z.number().optional(),
  components: z.record(z.string(), z.object({ score: z.number(), weight: z.number(), reason: z.string().optional() })),
  tests: z.array(z.object({ id: z.string(), before: testStatus, after: testStatus, message: z.string().optional() })),
  files: z.array(z.object({ path: z.string(), ratio: z.number(), reason: z.string().optional() })),
});

const originSchema: z.ZodType<BranchOrigin> = z.object({
  trajectoryId: z.string(),
  turn: count,
  nodes: count,
  policy: z.string(),
});

export const stopReasonSchema: z.ZodType<StopReason> = z.enum([
  'submitted',
  'no-tool-call',
  'turn-limit',
  'token-limit',
  'time-limit',
  'cancelled',
  'error',
]);
export const statisticsSchema = z.object({
  turns: count,
  toolCalls: z.record(z.string(), count),
  malformedCalls: count,
  unknownTools: count,
  invalidArguments: count,
  validCalls: count,
  dangerousCommands: z.array(z.string()).optional(),
  sampledTokens: count,
  totalTokens: count,
  seconds: z.number(),
});

/**
 * A trajectory as a JSON line: its arrays are in the token file, `nodes[].tokens` says how many each node has. A branch's
 * line has only the nodes that it does not share; their parents count all of them.
 */
export const trajectoryLineSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['rollout', 'evaluation', 'demonstration']),
    step: count,
    taskId: z.string(),
    split: z.enum(['train', 'heldout']),
    sample: count,
    seed: count,
    temperature: z.number(),
    constrained: z.literal(true).optional(),
    policyStep: count,
    sandbox: z.string(),
    origin: originSchema.optional(),
    hindsight: z.object({ trajectoryId: z.string(), taskId: z.string(), goal: z.array(z.string()) }).optional(),
    stopReason: stopReasonSchema,
    infrastructureError: z.string().nullable(),
    infrastructurePhrase: saidFields.phrase,
    grade: gradeSchema.nullable(),
    patch: z.string(),
    statistics: statisticsSchema,
    block: tokenBlockSchema,
    nodes: z.array(
      z.object({
        parent: count.nullable(),
        message: messageSchema,
        branch: z.enum(['template', 'window', 'summary']).optional(),
        forced: z.int().positive().optional(),
        tokens: count,
      }),
    ),
  })
  // Whoever walks from a leaf to the root must arrive there.
  .refine(
    ({ nodes, origin }) => nodes.every(({ parent }, index) => parent === null || parent < index + (origin?.nodes ?? 0)),
    { message: 'a parent comes first', path: ['nodes'] },
  );
export type TrajectoryLine = z.infer<typeof trajectoryLineSchema>;

const kinds = ['int32', 'float32', 'float32', 'uint8'] as const;

/** Writes the trajectory's arrays to the token file and returns its line, which must be written after. */
export function storeTrajectory(trajectory: Trajectory, tokens: TokenFile): TrajectoryLine {
  const nodes = trajectory.nodes.slice(trajectory.origin?.nodes ?? 0);
  const block = tokens.append([
    Int32Array.from(nodes.flatMap((node) => [...node.tokenIds])),
    Float32Array.from(nodes.flatMap((node) => [...node.logprobs])),
    Float32Array.from(nodes.flatMap((node) => [...node.entropies])),
    Uint8Array.from(nodes.flatMap((node) => [...node.actionMask])),
  ]);
  const { grade } = trajectory;
  return trajectoryLineSchema.parse({
    ...trajectory,
    // Why tests failed would be the most of many a record; a grade that is made again tells it.
    grade: grade && { ...grade, tests: grade.tests.map(({ id, before, after }) => ({ id, before, after })) },
    block,
    nodes: nodes.map(({ parent, message, branch, forced, tokenIds }) => ({
      parent,
      message,
      branch,
      forced,
      tokens: tokenIds.length,
    })),
  });
}

/**
 * Reads the arrays that belong to a line and puts the trajectory together again.
 * @param sharedWith the nodes of the trajectory that a branch comes from
 */
export async function restoreTrajectory(
  line: TrajectoryLine,
  tokenFile: string,
  sharedWith: readonly TrajectoryNode[] = [],
): Promise<Trajectory> {
  const { block, nodes, ...rest } = line;
  const shared = rest.origin?.nodes ?? 0;
  if (sharedWith.length < shared) {
    const { trajectoryId } = rest.origin!;
    throw badInput(
      say`${trajectoryId} has ${sharedWith.length} nodes, and its branch ${rest.id} shares ${shared}.`,
      'trajectories.jsonl was changed by something else; restore it.',
    );
  }
  const [ids, logprobs, entropies, mask] = await readTokenBlock(tokenFile, block, kinds);
  let start = 0;
  const restored = nodes.map(({ parent, message, branch, forced, tokens }): TrajectoryNode => {
    const end = start + tokens;
    const node = {
      parent,
      message,
      ...(branch === undefined ? {} : { branch }),
      ...(forced === undefined ? {} : { forced }),
      tokenIds: ids.slice(start, end),
      actionMask: mask.slice(start, end),
      logprobs: logprobs.slice(start, end),
      entropies: entropies.slice(start, end),
    };
    start = end;
    return node;
  });
  return { ...rest, nodes: [...sharedWith.slice(0, shared), ...restored] };
}

/** What lists and trees show of a trajectory. */
export function headerOf(trajectory: TrajectoryLine | Trajectory): TrajectoryHeader {
  const { id, kind, step, taskId, sample, grade, stopReason, statistics, sandbox, origin } = trajectory;
  const { infrastructureError, infrastructurePhrase } = trajectory;
  return {
    id,
    kind,
    step,
    taskId,
    sample,
    reward: grade?.reward ?? null,
    resolved: grade?.resolved ?? false,
    stopReason,
    turns: statistics.turns,
    tokens: statistics.totalTokens,
    seconds: statistics.seconds,
    tools: Object.keys(statistics.toolCalls),
    infrastructureError,
    ...(infrastructurePhrase && { infrastructurePhrase }),
    sandbox,
    ...(origin === undefined ? {} : { origin: { trajectoryId: origin.trajectoryId, turn: origin.turn } }),
  };
}
