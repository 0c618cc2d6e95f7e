import type { GrammarState } from './byteGrammar.js';

/** Which tokens may come next, one token after the other. */
export interface ConstraintCursor {
  /** 1 for every token that may come next: [vocabulary]. Not to be changed. */
  allowed(): Uint8Array;
  push(tokenId: number): void;
}

/** Starts at the beginning of a turn. */
export type TokenConstraint = () => ConstraintCursor;

/**
 * A grammar of bytes as one of tokens: a token may come where its bytes lead on, a stop token where the turn is whole.
 * @param tokenBytes of every id; null for one that is not to be sampled (control tokens, ids without a token)
 */
export function tokenConstraint(
  start: GrammarState,
  vocabularySize: number,
  tokenBytes: (id: number) => Uint8Array | null,
  stopTokenIds: readonly number[],
): TokenConstraint {
  const stops = new Set(stopTokenIds);
  const vocabulary = Array.from({ length: vocabularySize }, (_, id) => (stops.has(id) ? null : tokenBytes(id)));
  const masks = new Map<GrammarState, Uint8Array>();
  const run = (state: GrammarState, bytes: Uint8Array): GrammarState | null => {
    let at: GrammarState | null = state;
    for (let i = 0; i < bytes.length && at !== null; i++) at = at.next(bytes[i]!);
    return at;
  };
  const maskOf = (state: GrammarState): Uint8Array => {
    let mask = masks.get(state);
    if (mask === undefined) {
      mask = Uint8Array.from(vocabulary, (bytes) => (bytes !== null && bytes.length > 0 && run(state, bytes) ? 1 : 0));
      if (state.isWhole) for (const id of stops) mask[id] = 1;
      masks.set(state, mask);
    }
    return mask;
  };
  return () => {
    let state = start;
    return {
      allowed: () => maskOf(state),
      push(id) {
        if (stops.has(id)) return;
        const next = run(state, vocabulary[id] ?? new Uint8Array(0));
        if (next === null) throw new Error(`internal: token ${id} is not in the grammar`);
        state = next;
      },
    };
  };
}
