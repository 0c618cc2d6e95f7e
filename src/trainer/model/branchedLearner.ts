import type { Learner, SequenceScores, TrainingSequence } from './policy.js';

/**
 * A learner that also takes trees of tokens: every branch is computed as a sequence, and what was found of its tokens goes
 * back to their places in the tree. A token that several branches share is learned from once.
 */
export function branchedLearner(learner: Learner): Learner {
  return {
    score: async (sequences, temperature) => {
      const { flat, gather } = spread(sequences);
      return gather(await learner.score(flat, temperature));
    },
    accumulate: async (sequences, coefficients, temperature) => {
      const { flat, places, gather } = spread(sequences);
      const chosen = places.map(({ owner, positions }, index) => {
        const { logprobs, entropies, stateValues } = coefficients[owner]!;
        if (positions === null) return coefficients[owner]!;
        // What another branch learns from counts there.
        const { actionMask } = flat[index]!;
        const taken = (values: Float32Array) =>
          Float32Array.from(positions, (position, t) => (actionMask[t] === 1 ? values[position]! : 0));
        return {
          logprobs: taken(logprobs),
          entropies: entropies && taken(entropies),
          ...(stateValues && { stateValues: taken(stateValues) }),
        };
      });
      return gather(await learner.accumulate(flat, chosen, temperature));
    },
    step: (options) => learner.step(options),
    save: (folder, options) => learner.save(folder, options),
    load: (folder, options) => learner.load(folder, options),
    dispose: () => learner.dispose(),
  };
}

/** The sequences with branches in place of trees, whose they are, and the way back. */
function spread(sequences: readonly TrainingSequence[]) {
  const places: { readonly owner: number; readonly positions: Int32Array | null }[] = [];
  const flat = sequences.flatMap((sequence, owner): TrainingSequence[] => {
    const { tokenIds, branches } = sequence;
    if (branches === undefined) {
      places.push({ owner, positions: null });
      return [sequence];
    }
    return branches.map(({ positions, actionMask }) => {
      places.push({ owner, positions });
      return { tokenIds: Int32Array.from(positions, (position) => tokenIds[position]!), actionMask };
    });
  });
  const gather = (scores: readonly SequenceScores[]): SequenceScores[] => {
    const unknown = ({ tokenIds }: TrainingSequence) => new Float32Array(tokenIds.length).fill(NaN);
    const hasCritic = scores.some(({ stateValues }) => stateValues !== undefined);
    const found: SequenceScores[] = sequences.map((sequence) => ({
      logprobs: unknown(sequence),
      entropies: unknown(sequence),
      ...(hasCritic && { stateValues: unknown(sequence) }),
    }));
    places.forEach(({ owner, positions }, index) => {
      const { logprobs, entropies, stateValues } = scores[index]!;
      if (positions === null) found[owner] = scores[index]!;
      else
        positions.forEach((position, t) => {
          if (flat[index]!.actionMask[t] !== 1) return;
          found[owner]!.logprobs[position] = logprobs[t]!;
          found[owner]!.entropies[position] = entropies[t]!;
          if (stateValues) found[owner]!.stateValues![position] = stateValues[t]!;
        });
    });
    return found;
  };
  return { flat, places, gather };
}
