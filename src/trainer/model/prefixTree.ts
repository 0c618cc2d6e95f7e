import { badInput } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { TrainingSequence } from './policy.js';

/** Tokens that some sequences have in common, and what follows them. A path from a root is the beginning of a sequence. */
export interface TreeNode {
  readonly tokens: Int32Array;
  /** Place of the first token in its sequences. */
  readonly start: number;
  readonly children: readonly TreeNode[];
  /** Indices of the sequences whose targets these tokens predict; with a child's tokens only those that go through it. */
  readonly sequences: readonly number[];
  /** Tokens of the node and of all below it. */
  readonly total: number;
}

/** A token to be predicted: `source` is the place of the token before it, counted from the node's first. */
export interface Target {
  readonly source: number;
  readonly id: number;
  /** Who asks, with the place of the target in the sequence. Its probability is the same for all of them. */
  readonly askers: readonly { readonly sequence: number; readonly place: number }[];
}

export interface SequenceLimits {
  readonly maxPositions: number;
  readonly vocabularySize: number;
}

/**
 * The sequences as a forest in which what several of them begin with is there once. Tokens after the last target are left
 * out: nothing asked for depends on them. Sequences without targets do not appear.
 */
export function prefixTree(sequences: readonly TrainingSequence[], limits: SequenceLimits): TreeNode[] {
  const roots: GrowingNode[] = [];
  sequences.forEach((sequence, index) => {
    check(sequence, index, limits);
    const last = sequence.actionMask.lastIndexOf(1);
    if (last > 0) insert(roots, sequence.tokenIds.subarray(0, last), index);
  });
  return roots.map(finished);
}

/** A node with its sum; every node of a tree is made by this. */
export function treeNode(node: Omit<TreeNode, 'total'>): TreeNode {
  return { ...node, total: node.children.reduce((sum, child) => sum + child.total, node.tokens.length) };
}

/** The same tree with the first `count` tokens of a node as a node of their own. */
export function split(node: TreeNode, count: number): TreeNode {
  if (count >= node.tokens.length) return node;
  const rest = treeNode({ ...node, tokens: node.tokens.subarray(count), start: node.start + count });
  return treeNode({ ...node, tokens: node.tokens.subarray(0, count), children: [rest] });
}

/** The children of a node with its tokens before their own. Sequences that end in the node go with the first child. */
export function pushDown(node: TreeNode): TreeNode[] {
  const further = new Set(node.children.flatMap(({ sequences }) => sequences));
  const ending = node.sequences.filter((sequence) => !further.has(sequence));
  return node.children.map((child, index) =>
    treeNode({
      tokens: Int32Array.from([...node.tokens, ...child.tokens]),
      start: node.start,
      children: child.children,
      sequences: index === 0 ? [...child.sequences, ...ending] : child.sequences,
    }),
  );
}

/** The targets that a node's own tokens predict, each once. */
export function targetsOf(node: TreeNode, sequences: readonly TrainingSequence[]): Target[] {
  const found = new Map<string, Target & { askers: { sequence: number; place: number }[] }>();
  for (const sequence of node.sequences) {
    const { tokenIds, actionMask } = sequences[sequence];
    const end = Math.min(node.start + node.tokens.length, tokenIds.length - 1);
    for (let place = node.start + 1; place <= end; place++) {
      if (actionMask[place] !== 1) continue;
      const key = `${place} ${tokenIds[place]}`;
      const target = found.get(key) ?? { source: place - 1 - node.start, id: tokenIds[place], askers: [] };
      target.askers.push({ sequence, place });
      found.set(key, target);
    }
  }
  return [...found.values()];
}

function check({ tokenIds, actionMask }: TrainingSequence, index: number, limits: SequenceLimits): void {
  if (actionMask.length !== tokenIds.length) {
    throw new Error(`internal: sequence ${index} has ${tokenIds.length} tokens and a mask of ${actionMask.length}.`);
  }
  if (actionMask[0] === 1) throw new Error(`internal: the first token of sequence ${index} has nothing to predict it.`);
  if (tokenIds.length > limits.maxPositions) {
    throw badInput(
      say`A sequence of ${tokenIds.length} tokens does not fit the model's ${limits.maxPositions} positions.`,
      'Lower maxTurns or maxTokensPerTurn, or choose a model with a longer context.',
    );
  }
  if (tokenIds.some((id) => id < 0 || id >= limits.vocabularySize)) {
    throw new Error(`internal: sequence ${index} has a token outside the vocabulary of ${limits.vocabularySize}.`);
  }
}

interface GrowingNode {
  tokens: Int32Array;
  readonly start: number;
  children: GrowingNode[];
  sequences: number[];
}

function insert(roots: GrowingNode[], tokens: Int32Array, sequence: number): void {
  let siblings = roots;
  let place = 0;
  while (place < tokens.length) {
    const rest = tokens.subarray(place);
    const node = siblings.find((candidate) => candidate.tokens[0] === rest[0]);
    if (!node) {
      siblings.push({ tokens: rest, start: place, children: [], sequences: [sequence] });
      return;
    }
    const common = commonPrefix(node.tokens, rest);
    if (common < node.tokens.length) {
      const lower = {
        ...node,
        tokens: node.tokens.subarray(common),
        start: place + common,
        sequences: [...node.sequences],
      };
      node.tokens = node.tokens.subarray(0, common);
      node.children = [lower];
    }
    node.sequences.push(sequence);
    siblings = node.children;
    place += common;
  }
}

function commonPrefix(a: Int32Array, b: Int32Array): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length] === b[length]) length++;
  return length;
}

const finished = (node: GrowingNode): TreeNode => treeNode({ ...node, children: node.children.map(finished) });
