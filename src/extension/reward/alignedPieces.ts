/** A piece of one side of an alignment. */
export interface AlignedPiece {
  readonly text: string;
  /** Number of the block that both sides have in common, from 1; null where the other side has nothing like it. */
  readonly block: number | null;
}

/** A file's changes on both sides, in pieces. */
export interface AlignedFile {
  readonly path: string;
  readonly predicted: readonly AlignedPiece[];
  readonly oracle: readonly AlignedPiece[];
}

/**
 * Cuts a text at its blocks.
 * @param blocks in order and disjoint, in code points
 */
export function alignedPieces(
  text: string,
  blocks: readonly { readonly start: number; readonly length: number }[],
): readonly AlignedPiece[] {
  const points = [...text];
  const pieces: AlignedPiece[] = [];
  const add = (from: number, to: number, block: number | null) => {
    if (to > from) pieces.push({ text: points.slice(from, to).join(''), block });
  };
  let done = 0;
  for (const [index, { start, length }] of blocks.entries()) {
    add(done, start, null);
    add(start, start + length, index + 1);
    done = start + length;
  }
  add(done, points.length, null);
  return pieces;
}
