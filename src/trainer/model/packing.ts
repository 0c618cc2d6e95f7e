import { badInput } from '../../trajectory/errors.js';
import type { TrainingSequence } from './policy.js';

export interface PackingLimits {
  /** Tokens of one micro-batch, padding included; one longer sequence makes a micro-batch of its own. */
  readonly tokens: number;
  /** Targets of one micro-batch, since each costs a row of logits. */
  readonly targets: number;
  /** Row lengths are multiples of this. */
  readonly multiple: number;
  readonly maxPositions: number;
  readonly vocabularySize: number;
}

/** Sequences laid side by side in rows, each a segment of its own. Arrays are row-major [rows, length]. */
export interface MicroBatch {
  readonly rows: number;
  readonly length: number;
  readonly tokens: Int32Array;
  /** From 0 in every segment. */
  readonly positions: Int32Array;
  /** Counted from 1 within the micro-batch; 0 is padding. */
  readonly segments: Int32Array;
  /** Flat index of the token before each target: [targets]. */
  readonly sources: Int32Array;
  /** Ids of the targets: [targets]. */
  readonly targets: Int32Array;
  /** Where each target came from: which sequence, and the place in it. [targets] */
  readonly sequences: Int32Array;
  readonly places: Int32Array;
}

/** A sequence, or the part of its targets that one micro-batch can hold, with the tokens that those depend on. */
interface Piece {
  readonly sequence: number;
  readonly tokenIds: Int32Array;
  /** Tokens before the last target. */
  readonly length: number;
  readonly targets: readonly number[];
}

interface OpenBatch {
  readonly rows: Piece[][];
  readonly room: number[];
  readonly length: number;
  targets: number;
}

/**
 * First fit, longest first. Tokens after the last target are left out: nothing asked for depends on them. Sequences
 * without targets do not appear. The plan depends only on lengths and masks.
 */
export function packSequences(sequences: readonly TrainingSequence[], limits: PackingLimits): MicroBatch[] {
  const pieces = sequences.flatMap((sequence, index) => piecesOf(sequence, index, limits));
  pieces.sort((a, b) => b.length - a.length || a.sequence - b.sequence);
  const open: OpenBatch[] = [];
  for (const piece of pieces) {
    if (!open.some((batch) => place(batch, piece, limits))) open.push(openBatch(piece, limits));
  }
  return open.map(layOut);
}

function piecesOf(sequence: TrainingSequence, index: number, limits: PackingLimits): Piece[] {
  const { tokenIds, actionMask } = sequence;
  if (actionMask.length !== tokenIds.length) {
    throw new Error(`internal: sequence ${index} has ${tokenIds.length} tokens and a mask of ${actionMask.length}.`);
  }
  if (actionMask[0] === 1) throw new Error(`internal: the first token of sequence ${index} has nothing to predict it.`);
  if (tokenIds.length > limits.maxPositions) {
    throw badInput(
      `A sequence of ${tokenIds.length} tokens does not fit the model's ${limits.maxPositions} positions.`,
      'Lower maxTurns or maxTokensPerTurn, or choose a model with a longer context.',
    );
  }
  if (tokenIds.some((id) => id < 0 || id >= limits.vocabularySize)) {
    throw new Error(`internal: sequence ${index} has a token outside the vocabulary of ${limits.vocabularySize}.`);
  }
  const targets = [...actionMask.keys()].filter((place) => actionMask[place] === 1);
  const pieces: Piece[] = [];
  for (let start = 0; start < targets.length; start += limits.targets) {
    const some = targets.slice(start, start + limits.targets);
    pieces.push({ sequence: index, tokenIds, length: some[some.length - 1], targets: some });
  }
  return pieces;
}

function openBatch(first: Piece, limits: PackingLimits): OpenBatch {
  const length = Math.ceil(first.length / limits.multiple) * limits.multiple;
  const count = Math.max(1, Math.floor(limits.tokens / length));
  const batch = { rows: Array.from({ length: count }, () => []), room: Array(count).fill(length), length, targets: 0 };
  place(batch, first, limits);
  return batch;
}

function place(batch: OpenBatch, piece: Piece, limits: PackingLimits): boolean {
  const row = batch.room.findIndex((room) => room >= piece.length);
  if (row < 0 || batch.targets + piece.targets.length > limits.targets) return false;
  batch.rows[row].push(piece);
  batch.room[row] -= piece.length;
  batch.targets += piece.targets.length;
  return true;
}

function layOut(batch: OpenBatch): MicroBatch {
  const filled = batch.rows.filter((row) => row.length > 0);
  const { length } = batch;
  const size = filled.length * length;
  const result = {
    rows: filled.length,
    length,
    tokens: new Int32Array(size),
    positions: new Int32Array(size),
    segments: new Int32Array(size),
    sources: new Int32Array(batch.targets),
    targets: new Int32Array(batch.targets),
    sequences: new Int32Array(batch.targets),
    places: new Int32Array(batch.targets),
  };
  let segment = 0;
  let target = 0;
  filled.forEach((row, rowIndex) => {
    let start = rowIndex * length;
    for (const piece of row) {
      segment++;
      result.tokens.set(piece.tokenIds.subarray(0, piece.length), start);
      for (let place = 0; place < piece.length; place++) {
        result.positions[start + place] = place;
        result.segments[start + place] = segment;
      }
      for (const place of piece.targets) {
        result.sources[target] = start + place - 1;
        result.targets[target] = piece.tokenIds[place];
        result.sequences[target] = piece.sequence;
        result.places[target] = place;
        target++;
      }
      start += piece.length;
    }
  });
  return result;
}
