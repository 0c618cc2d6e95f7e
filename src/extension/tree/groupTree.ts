import type { TrajectoryHeader } from '../../trainer/run/runRecord.js';
import type { Trajectory } from '../../trajectory/trajectory.js';
import { machineError } from '../machineError.js';
import { t } from '../translate.js';
import { pathOfNodes, turnLabel } from '../trajectory/turns.js';

/** A rollout of the group. */
export interface Rollout {
  readonly trajectory: Trajectory;
  readonly header: TrajectoryHeader;
  /** Null where the learner has not seen the group. */
  readonly advantage: number | null;
}

/** Where a node is found again: the rollout, and the message along its path. */
export interface Passage {
  readonly trajectoryId: string;
  /** 1-based. */
  readonly rollout: number;
  /** 0-based. */
  readonly message: number;
}

/** A message that one or several rollouts have in common with all that came before it, or the end of a rollout. */
export interface GroupNode {
  /** Position in the list; a parent comes before its children. */
  readonly parent: number | null;
  readonly role: 'prompt' | 'agent' | 'observation' | 'outcome';
  readonly label: string;
  readonly detail: string;
  /** The beginning of the message's text. */
  readonly text: string;
  readonly passages: readonly Passage[];
  /** Mean over the rollouts that pass here; null where none has one. */
  readonly advantage: number | null;
  /** File that the turn's tool was called with, relative to the repository's root. */
  readonly file: string | null;
  /** Column, and row of its middle; leaves stand on whole rows from 0. */
  readonly column: number;
  readonly row: number;
}

interface Growing {
  readonly parent: number | null;
  readonly role: GroupNode['role'];
  readonly label: string;
  readonly detail: string;
  readonly text: string;
  readonly file: string | null;
  readonly column: number;
  readonly passages: Passage[];
  readonly advantages: number[];
  readonly children: number[];
}

const shownText = 4000;

/** The rollouts of a group with what they share drawn once: two go the same way as long as their tokens are the same. */
export function groupTree(rollouts: readonly Rollout[]): readonly GroupNode[] {
  const nodes: Growing[] = [];
  const known = new Map<string, number>();
  const step = (
    parent: number | null,
    key: string,
    make: () => Pick<Growing, 'role' | 'label' | 'detail' | 'text' | 'file'>,
  ) => {
    const path = `${parent ?? ''} ${key}`;
    const found = known.get(path);
    if (found !== undefined) return found;
    const column = parent === null ? 0 : nodes[parent].column + 1;
    const at = nodes.push({ parent, column, passages: [], advantages: [], children: [], ...make() }) - 1;
    if (parent !== null) nodes[parent].children.push(at);
    known.set(path, at);
    return at;
  };
  for (const { trajectory, header, advantage } of rollouts) {
    const pass = (at: number, message: number) => {
      nodes[at].passages.push({ trajectoryId: trajectory.id, rollout: trajectory.sample + 1, message });
      if (advantage !== null) nodes[at].advantages.push(advantage);
    };
    let at: number | null = null;
    const path = pathOfNodes(trajectory);
    path.forEach(({ message, tokenIds }, index) => {
      at = step(at, `${message.role} ${tokenIds.join(' ')}`, () => describe(message));
      pass(at, index);
    });
    const end = step(at, `outcome ${trajectory.id}`, () => outcome(header));
    pass(end, Math.max(0, path.length - 1));
  }
  return withRows(nodes).map(({ node, row }) => {
    const { parent, role, label, detail, text, file, column, passages, advantages } = node;
    const mean = advantages.reduce((sum, value) => sum + value, 0) / advantages.length;
    const advantage = advantages.length === 0 ? null : mean;
    return { parent, role, label, detail, text, passages, advantage, file, column, row };
  });
}

function describe(message: Trajectory['nodes'][number]['message']) {
  const text = (message.role === 'assistant' ? message.raw : message.content).slice(0, shownText);
  switch (message.role) {
    case 'assistant': {
      const { action, detail } = turnLabel(message);
      const path = message.toolCalls.map((call) => call.arguments.path).find((value) => typeof value === 'string');
      return { role: 'agent' as const, label: action, detail, text, file: typeof path === 'string' ? path : null };
    }
    case 'tool':
      return {
        role: 'observation' as const,
        label: firstLine(message.name),
        detail: firstLine(text),
        text,
        file: null,
      };
    default:
      return { role: 'prompt' as const, label: message.role, detail: firstLine(text), text, file: null };
  }
}

function outcome(header: TrajectoryHeader) {
  const { resolved, reward, stopReason } = header;
  const error = machineError(header);
  const word = error !== null ? t('machine error') : resolved ? t('solved') : t('failed');
  const detail = reward === null ? t('no reward') : t('reward {0}', reward.toFixed(2));
  const text = t('{0}, {1}, ended: {2}', word, detail, error ?? stopReason).slice(0, shownText);
  return { role: 'outcome' as const, label: word, detail, text, file: null };
}

const firstLine = (text: string) => text.trim().split('\n', 1)[0].slice(0, 80);

/** Leaves in the order of their rollouts; a node stands in the middle of its children. */
function withRows(nodes: readonly Growing[]): readonly { node: Growing; row: number }[] {
  const rows = new Array<number>(nodes.length).fill(0);
  let next = 0;
  const visit: { at: number; isDone: boolean }[] = nodes
    .flatMap((node, at) => (node.parent === null ? [{ at, isDone: false }] : []))
    .reverse();
  for (let top = visit.pop(); top; top = visit.pop()) {
    const { children } = nodes[top.at];
    if (children.length === 0) rows[top.at] = next++;
    else if (top.isDone) rows[top.at] = (rows[children[0]] + rows[children.at(-1)!]) / 2;
    else {
      visit.push({ at: top.at, isDone: true });
      visit.push(...children.map((at) => ({ at, isDone: false })).reverse());
    }
  }
  return nodes.map((node, at) => ({ node, row: rows[at] }));
}
