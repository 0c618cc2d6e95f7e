/** A rollout of a group in which rollouts leave one another. */
export interface TreeMember {
  /** Null where the machine failed. */
  readonly reward: number | null;
  /** Index of the rollout that it leaves; null where it was played from the prompt on. */
  readonly parent: number | null;
  /** Nodes that it shares with that one; 0 without a parent. */
  readonly shared: number;
}

/** Where a rollout stands in such a group. */
export interface TreePlace extends Omit<TreeMember, 'reward'> {
  /** Index of the node that each token belongs to: [time] */
  readonly nodeOfToken: ArrayLike<number>;
}

/** What a rollout's own nodes are credited with from one of them on, up to the next part's. */
export interface TreePart {
  readonly from: number;
  readonly advantage: number;
}

/**
 * Advantages of rollouts that form a tree: where some of them part, each is held against its siblings there, for what it does from
 * there on. What they share is nobody's merit in that comparison; it is credited with the value of the place where they part,
 *
 *   V(s) = mean over the continuations c from s of V(c), V of one that goes to its end being its reward
 *   A(c) = F(V(c); V of its siblings at s)      F: the estimator of groups, e.g. (V - mean) / (std + eps)
 *
 * which is held against its own siblings in turn. V(s) is the value of a prefix as in TEMPO (arXiv 2509.18314: the mean outcome of its
 * descendants), which adds V(s') - V(s) to the group's advantage of the whole rollout; here V(s') - V(s) stands alone, so that a
 * part is judged by what came of it and by nothing before. With no branches this is the estimator itself.
 * Where the machine failed a continuation it takes no part in the mean; siblings of equal values get exactly 0.
 * @param relative advantages of values that are comparable, 0 for null
 * @returns parts of each rollout's own nodes, by `from`
 */
export function treeAdvantages(
  members: readonly TreeMember[],
  relative: (values: readonly (number | null)[]) => readonly number[],
): TreePart[][] {
  const parts = members.map((): TreePart[] => []);
  const partings = partingsOf(members);
  const credit = (siblings: readonly { readonly member: number; readonly from: number; value: number | null }[]) => {
    const advantages = relative(siblings.map(({ value }) => value));
    siblings.forEach(({ member, from }, index) => parts[member]!.push({ from, advantage: advantages[index]! }));
    return meanOfKnown(siblings.map(({ value }) => value));
  };
  /** Value of a rollout behind so many of its partings. */
  const valueBehind = (member: number, passed: number): number | null => {
    const parting = partings[member]![passed];
    if (parting === undefined) return members[member]!.reward;
    const { from, leaving } = parting;
    return credit([
      { member, from, value: valueBehind(member, passed + 1) },
      ...leaving.map((branch) => ({ member: branch, from, value: valueBehind(branch, 0) })),
    ]);
  };
  const roots = [...members.keys()].filter((member) => members[member]!.parent === null);
  credit(roots.map((member) => ({ member, from: 0, value: valueBehind(member, 0) })));
  return parts.map((own) => own.sort((a, b) => a.from - b.from));
}

/** Where others leave each rollout, in its order. One that leaves it within what it shares itself leaves the one before. */
function partingsOf(members: readonly TreeMember[]): { readonly from: number; readonly leaving: number[] }[][] {
  const found = members.map(() => new Map<number, number[]>());
  members.forEach(({ parent, shared }, member) => {
    let owner = parent;
    while (owner !== null && members[owner]!.parent !== null && shared <= members[owner]!.shared)
      owner = members[owner]!.parent;
    if (owner === null) return;
    const own = found[owner]!;
    own.set(shared, [...(own.get(shared) ?? []), member]);
  });
  return found.map((own) => [...own].map(([from, leaving]) => ({ from, leaving })).sort((a, b) => a.from - b.from));
}

/** Null of nothing. Equal values have exactly that mean. */
function meanOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  const [first] = known;
  if (first === undefined) return null;
  return known.every((value) => value === first) ? first : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** Gives each part's advantage to the sampled tokens of its nodes; 0 where the mask is 0: [time] */
export function overParts(
  parts: readonly TreePart[],
  nodeOfToken: ArrayLike<number>,
  actionMask: Uint8Array,
): Float64Array {
  return Float64Array.from(actionMask, (bit, t) =>
    bit === 0 ? 0 : parts.findLast(({ from }) => from <= nodeOfToken[t]!)!.advantage,
  );
}
