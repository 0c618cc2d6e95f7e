import type { Message } from '../../trajectory/message.js';
import type { LearnedTokens, StopReason, Trajectory, TrajectoryNode } from '../../trajectory/trajectory.js';

/** A trajectory of another system, in Whetstone's words. */
export interface ReadTrajectory {
  /** A message whose tokens the file does not hold has none here either: they are never made up from its text. */
  readonly trajectory: Trajectory;
  readonly model: string | null;
  /** Does any message have tokens? Their texts are then known only to that model's tokenizer. */
  readonly hasTokens: boolean;
  readonly learned: Omit<LearnedTokens, 'trajectoryId' | 'step'> | null;
}

/** What a reader found; the rest has a default that says nothing. */
export interface Found {
  readonly taskId: string;
  readonly nodes: readonly TrajectoryNode[];
  readonly model?: string | null;
  readonly kind?: Trajectory['kind'];
  readonly step?: number;
  readonly policyStep?: number;
  readonly sample?: number;
  readonly seed?: number;
  readonly temperature?: number;
  readonly split?: Trajectory['split'];
  readonly sandbox?: string;
  readonly stopReason?: StopReason;
  readonly infrastructureError?: string | null;
  /** Scores by name; a score that is no finite number is left out. Null where nobody scored. */
  readonly rewards?: Readonly<Record<string, { readonly score: number; readonly weight: number }>> | null;
  readonly resolved?: boolean;
  readonly patch?: string;
  readonly seconds?: number;
  readonly learned?: ReadTrajectory['learned'];
}

/** A trajectory whose id is `<kind>-<step>/<task>/<sample>`, as one's own are. */
export function readTrajectory(found: Found): ReadTrajectory {
  const { nodes, kind = 'evaluation', step = 0, sample = 0, rewards = null } = found;
  const components = Object.fromEntries(
    Object.entries(rewards ?? {}).filter(([, { score, weight }]) => Number.isFinite(score) && Number.isFinite(weight)),
  );
  const reward = Object.values(components).reduce((sum, { score, weight }) => sum + score * weight, 0);
  const prefix = { rollout: 'step', evaluation: 'eval', demonstration: 'demo' }[kind];
  return {
    trajectory: {
      id: `${prefix}-${String(step).padStart(6, '0')}/${found.taskId}/${sample}`,
      kind,
      step,
      taskId: found.taskId,
      split: found.split ?? 'train',
      sample,
      seed: found.seed ?? 0,
      temperature: found.temperature ?? 1,
      policyStep: found.policyStep ?? 0,
      sandbox: found.sandbox ?? 'elsewhere',
      nodes,
      stopReason: found.stopReason ?? stopReasonOf(nodes),
      infrastructureError: found.infrastructureError ?? null,
      grade:
        rewards === null || (found.infrastructureError ?? null) !== null
          ? null
          : { reward, resolved: found.resolved ?? false, components, tests: [], files: [] },
      patch: found.patch ?? '',
      statistics: statisticsOf(nodes, found.seconds ?? 0),
    },
    model: found.model ?? null,
    hasTokens: nodes.some(({ tokenIds }) => tokenIds.length > 0),
    learned: found.learned ?? null,
  };
}

/** The same trajectory as another of its task's. */
export function withSample(read: ReadTrajectory, sample: number): ReadTrajectory {
  const { trajectory } = read;
  const id = `${trajectory.id.slice(0, trajectory.id.lastIndexOf('/'))}/${sample}`;
  return { ...read, trajectory: { ...trajectory, id, sample } };
}

/** A conversation without tokens as nodes, each the parent of the next. */
export function nodesOf(messages: readonly Message[]): TrajectoryNode[] {
  return messages.map((message, index) => ({
    parent: index === 0 ? null : index - 1,
    message,
    tokenIds: new Int32Array(0),
    actionMask: new Uint8Array(0),
    logprobs: new Float32Array(0),
    entropies: new Float32Array(0),
  }));
}

function stopReasonOf(nodes: readonly TrajectoryNode[]): StopReason {
  const last = nodes.at(-1)?.message;
  return last?.role === 'assistant' && last.toolCalls.length === 0 ? 'no-tool-call' : 'turn-limit';
}

function statisticsOf(nodes: readonly TrajectoryNode[], seconds: number): Trajectory['statistics'] {
  const turns = nodes.flatMap(({ message }) => (message.role === 'assistant' ? [message] : []));
  const toolCalls: Record<string, number> = {};
  for (const { name } of turns.flatMap((turn) => turn.toolCalls)) toolCalls[name] = (toolCalls[name] ?? 0) + 1;
  return {
    turns: turns.length,
    toolCalls,
    malformedCalls: turns.filter(({ malformedCall }) => malformedCall !== undefined).length,
    unknownTools: 0,
    invalidArguments: 0,
    validCalls: turns.reduce((sum, turn) => sum + turn.toolCalls.length, 0),
    sampledTokens: nodes.reduce((sum, { actionMask }) => sum + actionMask.reduce((bits, bit) => bits + bit, 0), 0),
    totalTokens: nodes.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
    seconds,
  };
}
