import type { TrainingSequence } from './policy.js';
import { prefixTree, pushDown, split, targetsOf, type SequenceLimits, type TreeNode } from './prefixTree.js';

export interface PackingLimits extends SequenceLimits {
  /** Tokens of one micro-batch, padding included, that follows so many others. */
  readonly tokens: (past: number) => number;
  /** The same of one that keeps only what its layers are given and computes them again in its backward pass; no less. */
  readonly recomputedTokens: (past: number) => number;
  /** Targets of one micro-batch, since each costs a row of logits. */
  readonly targets: number;
  /** Row lengths are multiples of this. */
  readonly multiple: number;
  /** What a token costs for each token that it looks at, where all its other work is 1. */
  readonly attentionCost: number;
}

/**
 * Trees of tokens laid side by side in rows. Arrays are row-major [rows, length]. In a row a node's tokens come first and then
 * those of its children, one child after the other, so a token is seen by those after it up to the end of its tree.
 */
export interface MicroBatch {
  readonly rows: number;
  readonly length: number;
  /** It is larger than one that may keep what its layers compute. */
  readonly recomputed: boolean;
  /** Tokens of the last row that are no padding. */
  readonly filled: number;
  readonly tokens: Int32Array;
  /** Places in the sequences. */
  readonly positions: Int32Array;
  /** The last column whose token sees this one. */
  readonly reach: Int32Array;
  /** Flat index of the token before each target: [targets]. */
  readonly sources: Int32Array;
  /** Ids of the targets: [targets]. */
  readonly targets: Int32Array;
  /** Who asked: which target, which sequence, and the place in it. One target may be asked for by several sequences. */
  readonly askers: readonly { readonly target: number; readonly sequence: number; readonly place: number }[];
}

/** A micro-batch, and those whose tokens follow its one row. */
export interface PlannedBatch {
  readonly batch: MicroBatch;
  readonly children: readonly PlannedBatch[];
}

/** What starting a micro-batch costs, in tokens. */
const batchCost = 32;
/** A micro-batch that others follow is computed forwards twice: before them for its keys and values, after them for its gradient. */
const trunkCost = 4 / 3;
/** So is one that keeps only what its layers are given: a step forwards costs a third of one forwards and backwards. */
const recomputedCost = 4 / 3;
/** The share of a row's square that attention computes, by blocks. */
export const causalShare = 10 / 16;

/**
 * Plans the work on sequences so that what several of them begin with is computed once, and no micro-batch exceeds the limits.
 * A tree is either laid whole into a row, or its first tokens are a micro-batch that the others follow, whichever costs less;
 * so is a sequence that is too long even where its layers are computed again. The plan depends only on the sequences and the limits.
 */
export function planBatches(sequences: readonly TrainingSequence[], limits: PackingLimits): PlannedBatch[] {
  return new Planner(sequences, limits).plan(prefixTree(sequences, limits), 0);
}

/** Tokens of the longest path of micro-batches that others follow, padding included. */
export function longestTrunk(plan: readonly PlannedBatch[]): number {
  const lengths = plan.map(({ batch, children }) => (children.length > 0 ? batch.length + longestTrunk(children) : 0));
  return Math.max(0, ...lengths);
}

class Planner {
  private readonly targetCounts = new Map<TreeNode, number>();

  constructor(
    private readonly sequences: readonly TrainingSequence[],
    private readonly limits: PackingLimits,
  ) {}

  plan(nodes: readonly TreeNode[], past: number): PlannedBatch[] {
    const pieces: TreeNode[] = [];
    const trunks: PlannedBatch[] = [];
    const open = [...nodes];
    for (let node = open.shift(); node; node = open.shift()) {
      if (this.isPiece(node, past)) {
        pieces.push(node);
      } else if (node.children.length > 0 && node.tokens.length < this.limits.multiple) {
        // Too short to be worth a micro-batch of its own.
        open.push(...pushDown(node));
      } else {
        const { children, ...trunk } = split(node, this.trunkLength(node, past));
        const total = trunk.tokens.length;
        const rows = [[{ ...trunk, children: [], total }]];
        const batch = this.layOut(rows, this.rowLength(total), this.isRecomputed(total, past));
        trunks.push({ batch, children: this.plan(children, past + total) });
      }
    }
    const batches = [false, true].flatMap((recomputed) => {
      const alike = pieces.filter(({ total }) => this.isRecomputed(total, past) === recomputed);
      return this.pack(alike, past, recomputed);
    });
    return [...batches.map((batch) => ({ batch, children: [] })), ...trunks];
  }

  /** Whether a tree is laid whole into a row. */
  private isPiece(node: TreeNode, past: number): boolean {
    if (node.total > this.limits.recomputedTokens(past) || this.targetCount(node) > this.limits.targets) return false;
    return node.children.length === 0 || this.wholeCost(node, past) <= this.treeCost(node, past);
  }

  private isRecomputed = (tokens: number, past: number): boolean => tokens > this.limits.tokens(past);

  private wholeCost({ total }: TreeNode, past: number): number {
    return (this.isRecomputed(total, past) ? recomputedCost : 1) * this.rowCost(total, past);
  }

  private rowCost(length: number, past: number): number {
    return length * (1 + this.limits.attentionCost * (past + causalShare * length));
  }

  /** Where a node's own tokens are a micro-batch that its children follow. */
  private treeCost(node: TreeNode, past: number): number {
    const own = node.tokens.length;
    const below = node.children.map((child) => {
      const whole = this.wholeCost(child, past + own);
      return child.children.length === 0 ? whole : Math.min(whole, this.treeCost(child, past + own));
    });
    return batchCost + trunkCost * this.rowCost(own, past) + below.reduce((sum, cost) => sum + cost, 0);
  }

  /** As many of a node's first tokens as fit a micro-batch. */
  private trunkLength(node: TreeNode, past: number): number {
    const most = this.trunkTokens(node.tokens.length, past);
    const sources = targetsOf(node, this.sequences)
      .map(({ source }) => source)
      .sort((a, b) => a - b);
    const beyond = sources[this.limits.targets];
    return beyond === undefined ? most : Math.max(1, Math.min(most, beyond));
  }

  /** Many at once where few would keep the device from its work more than computing the layers again does. */
  private trunkTokens(own: number, past: number): number {
    const few = Math.min(own, this.limits.tokens(past));
    const many = Math.min(own, this.limits.recomputedTokens(past));
    const cost = (tokens: number, ofToken: number) => ofToken * (1 + batchCost / tokens);
    return cost(many, trunkCost + recomputedCost - 1) < cost(few, trunkCost) ? many : few;
  }

  private targetCount(node: TreeNode): number {
    const known = this.targetCounts.get(node);
    if (known !== undefined) return known;
    const below = node.children.reduce((sum, child) => sum + this.targetCount(child), 0);
    const count = targetsOf(node, this.sequences).length + below;
    this.targetCounts.set(node, count);
    return count;
  }

  /** First fit, longest first. */
  private pack(pieces: readonly TreeNode[], past: number, recomputed: boolean): MicroBatch[] {
    const most = recomputed ? this.limits.recomputedTokens(past) : this.limits.tokens(past);
    const open: OpenBatch[] = [];
    const longestFirst = [...pieces].sort((a, b) => b.total - a.total || a.sequences[0] - b.sequences[0]);
    for (const piece of longestFirst) {
      const targets = this.targetCount(piece);
      if (open.some((batch) => place(batch, piece, targets, this.limits.targets))) continue;
      const length = this.rowLength(piece.total);
      const rows = Math.max(1, Math.floor(most / length));
      const room = Array.from({ length: rows }, () => length);
      const batch = { rows: room.map(() => []), room, length, targets: 0 };
      place(batch, piece, targets, Infinity);
      open.push(batch);
    }
    return open.map(({ rows, length }) =>
      this.layOut(
        rows.filter((row) => row.length > 0),
        length,
        recomputed,
      ),
    );
  }

  private rowLength = (tokens: number): number => Math.ceil(tokens / this.limits.multiple) * this.limits.multiple;

  private layOut(rows: readonly (readonly TreeNode[])[], length: number, recomputed: boolean): MicroBatch {
    const size = rows.length * length;
    const [tokens, positions, reach] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)];
    const sources: number[] = [];
    const targets: number[] = [];
    const askers: { target: number; sequence: number; place: number }[] = [];
    let column = 0;
    const put = (node: TreeNode, rowStart: number): void => {
      const start = rowStart + column;
      tokens.set(node.tokens, start);
      reach.fill(column + node.total - 1, start, start + node.tokens.length);
      for (let i = 0; i < node.tokens.length; i++) positions[start + i] = node.start + i;
      for (const target of targetsOf(node, this.sequences)) {
        for (const asker of target.askers) askers.push({ target: targets.length, ...asker });
        sources.push(start + target.source);
        targets.push(target.id);
      }
      column += node.tokens.length;
      for (const child of node.children) put(child, rowStart);
    };
    rows.forEach((row, index) => {
      column = 0;
      for (const node of row) put(node, index * length);
      // Padding sees itself, so that its scores are numbers; nobody asks for them.
      for (let rest = column; rest < length; rest++) reach[index * length + rest] = rest;
    });
    return {
      rows: rows.length,
      length,
      recomputed,
      filled: column,
      tokens,
      positions,
      reach,
      sources: Int32Array.from(sources),
      targets: Int32Array.from(targets),
      askers,
    };
  }
}

interface OpenBatch {
  readonly rows: TreeNode[][];
  readonly room: number[];
  readonly length: number;
  targets: number;
}

function place(batch: OpenBatch, piece: TreeNode, targets: number, mostTargets: number): boolean {
  const row = batch.room.findIndex((room) => room >= piece.total);
  if (row < 0 || batch.targets + targets > mostTargets) return false;
  batch.rows[row].push(piece);
  batch.room[row] -= piece.total;
  batch.targets += targets;
  return true;
}
