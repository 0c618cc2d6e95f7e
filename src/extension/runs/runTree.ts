import type { Finding } from '../../trainer/doctor/finding.js';
import type { RunEvent, RunSummary, TrajectoryHeader } from '../../trainer/run/runRecord.js';
import { ordered, type Order } from '../orders.js';
import type { Repository } from '../repositories.js';
import type { Turn } from '../trajectory/turns.js';
import { trajectoryOrders } from './runOrders.js';

/** A run and the repository that it trains on. */
export interface RunOf {
  readonly repository: Repository;
  readonly summary: RunSummary;
  /** What the doctor found in it, the critical first. */
  readonly findings: readonly Finding[];
}

/**
 * Nodes of the tree of runs: run > phase (an evaluation, or a step) > task > trajectory > turn. `page` stands for a
 * range of siblings where there are too many to list. `id` is the same for the same thing at every refresh.
 */
export type RunTreeNode = RunNode | PhaseNode | TaskNode | TrajectoryNode | TurnNode | PageNode;

export interface RunNode extends RunOf {
  readonly kind: 'run';
  readonly id: string;
  readonly parent?: undefined;
}
export interface PhaseNode {
  readonly kind: 'phase';
  readonly id: string;
  readonly parent: RunNode;
  readonly phase: TrajectoryHeader['kind'];
  readonly step: number;
  readonly headers: readonly TrajectoryHeader[];
  /** Absent while it goes on. */
  readonly outcome?: EvaluationEvent | StepEvent;
  readonly isFirstEvaluation: boolean;
}
export interface TaskNode {
  readonly kind: 'task';
  readonly id: string;
  readonly parent: PhaseNode;
  readonly taskId: string;
  readonly headers: readonly TrajectoryHeader[];
}
export interface TrajectoryNode {
  readonly kind: 'trajectory';
  readonly id: string;
  readonly parent: TaskNode;
  readonly header: TrajectoryHeader;
  /** Known once the learner has seen the group. */
  readonly advantage?: number;
}
export interface TurnNode {
  readonly kind: 'turn';
  readonly id: string;
  readonly parent: TrajectoryNode;
  readonly turn: Turn;
}
export interface PageNode {
  readonly kind: 'page';
  readonly id: string;
  readonly parent?: RunTreeNode;
  /** 1-based positions of the first and last sibling. */
  readonly range: readonly [number, number];
  readonly nodes: readonly RunTreeNode[];
}

type EvaluationEvent = Extract<RunEvent, { type: 'evaluation' }>;
type StepEvent = Extract<RunEvent, { type: 'step' }>;

const pageSize = 100;

export function runNode(run: RunOf): RunNode {
  return { kind: 'run', id: JSON.stringify([run.repository.root, run.summary.id]), ...run };
}

/** The run a node belongs to; undefined for a page of runs. */
export function runOf(node: RunTreeNode): RunNode | undefined {
  return node.kind === 'run' ? node : node.parent && runOf(node.parent);
}

/** Evaluations and steps in the order they were played. */
export function phases(
  parent: RunNode,
  headers: readonly TrajectoryHeader[],
  events: readonly RunEvent[],
): readonly PhaseNode[] {
  const byPhase = new Map<string, TrajectoryHeader[]>();
  for (const header of headers) {
    const key = `${header.kind} ${header.step}`;
    const list = byPhase.get(key);
    if (list) list.push(header);
    else byPhase.set(key, [header]);
  }
  const outcomes = new Map<string, EvaluationEvent | StepEvent>();
  for (const event of events) {
    if (event.type === 'evaluation') outcomes.set(`evaluation ${event.step}`, event);
    if (event.type === 'step') outcomes.set(`rollout ${event.step}`, event);
  }
  const firstEvaluation = Math.min(
    ...headers.filter((header) => header.kind === 'evaluation').map((header) => header.step),
  );
  return [...byPhase].map(([key, group]) => {
    const { kind: phase, step } = group[0];
    return {
      kind: 'phase',
      id: `${parent.id}/${key}`,
      parent,
      phase,
      step,
      headers: group,
      outcome: outcomes.get(key),
      isFirstEvaluation: phase === 'evaluation' && step === firstEvaluation,
    };
  });
}

/** The tasks of a phase: as they were played, or by the trajectory that each shows first. */
export function tasks(parent: PhaseNode, order: Order<TrajectoryHeader> = trajectoryOrders[0]): readonly TaskNode[] {
  const byTask = new Map<string, TrajectoryHeader[]>();
  for (const header of parent.headers) {
    const list = byTask.get(header.taskId);
    if (list) list.push(header);
    else byTask.set(header.taskId, [header]);
  }
  const nodes = [...byTask].map(([taskId, headers]) => ({
    kind: 'task' as const,
    id: `${parent.id}/${taskId}`,
    parent,
    taskId,
    headers,
  }));
  const { of } = order;
  if (!of) return nodes;
  const firsts = new Map(nodes.map((node) => [node, of(ordered(node.headers, order)[0])]));
  return ordered(nodes, { ...order, of: (node) => firsts.get(node) ?? null });
}

export function trajectories(
  parent: TaskNode,
  order: Order<TrajectoryHeader> = trajectoryOrders[0],
): readonly TrajectoryNode[] {
  const { outcome } = parent.parent;
  const groups = outcome?.type === 'step' ? outcome.groups : [];
  const group = groups.find((candidate) => candidate.taskId === parent.taskId);
  const played = [...parent.headers].sort((a, b) => a.sample - b.sample);
  return ordered(played, order).map((header) => {
    const at = group?.trajectoryIds.indexOf(header.id) ?? -1;
    return {
      kind: 'trajectory',
      id: `${parent.id}/${header.id}`,
      parent,
      header,
      advantage: at < 0 ? undefined : group?.advantages[at],
    };
  });
}

export function turnNodes(parent: TrajectoryNode, turns: readonly Turn[]): readonly TurnNode[] {
  return turns.map((turn) => ({ kind: 'turn', id: `${parent.id}/turn ${turn.number}`, parent, turn }));
}

/** Siblings as they are, or in pages where they are many. */
export function paged(parent: RunTreeNode | undefined, nodes: readonly RunTreeNode[]): readonly RunTreeNode[] {
  if (nodes.length <= pageSize) return nodes;
  const pages: PageNode[] = [];
  for (let start = 0; start < nodes.length; start += pageSize) {
    const page = nodes.slice(start, start + pageSize);
    pages.push({
      kind: 'page',
      id: `${parent?.id ?? 'runs'}/from ${start + 1}`,
      parent,
      range: [start + 1, start + page.length],
      nodes: page,
    });
  }
  return pages;
}

/** Mean over the graded trajectories; null where there is none. */
export function meanReward(headers: readonly TrajectoryHeader[]): number | null {
  const rewards = headers.flatMap((header) => (header.reward === null ? [] : [header.reward]));
  return rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
}
