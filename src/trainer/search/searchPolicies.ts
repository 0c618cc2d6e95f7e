/** An episode of a searched task, as far as a search looks at it. */
export interface Candidate {
  readonly id: string;
  /** Where it left another one; null where it was played from the prompt on. */
  readonly origin: { readonly trajectoryId: string; readonly turn: number } | null;
  readonly turns: number;
  /** What the scorer says of it; the higher the better. -Infinity where there is nothing to say. */
  readonly score: number;
}

/** Episodes to play next. */
export interface Expansion {
  /** The episode that they leave; null: none, they start from the prompt. */
  readonly from: string | null;
  /** The last turn that they share with it. */
  readonly turn: number;
  readonly count: number;
}

export const searchNames = ['best-of', 'beam', 'tree'] as const;
export type SearchName = (typeof searchNames)[number];

export interface SearchSize {
  /** Episodes in a round, at least 1. */
  readonly width: number;
  /** Rounds, at least 1; the first one plays from the prompt on. */
  readonly depth: number;
}

/**
 * What a search plays in a round (0 is the first), by what it has played so far; nothing where it is over. Every episode is
 * played to its end, so that its score is an estimate of all the prefixes that it went through.
 */
export type SearchPolicy = (played: readonly Candidate[], round: number, size: SearchSize) => Expansion[];

const fromPrompt = (count: number): Expansion[] => [{ from: null, turn: 0, count }];

/** The better ones first; of equal ones that which was played first. */
export const byScore = (played: readonly Candidate[]): Candidate[] =>
  played
    .map((candidate, index) => ({ candidate, index }))
    // A difference of two infinities is no number.
    .sort(({ candidate: a, index: i }, { candidate: b, index: j }) =>
      a.score === b.score ? i - j : a.score < b.score ? 1 : -1,
    )
    .map(({ candidate }) => candidate);

/** One round of independent episodes. */
const bestOf: SearchPolicy = (_played, round, { width }) => (round === 0 ? fromPrompt(width) : []);

/** In round r the better half of the beam is kept up to its r-th turn, and played on from there. */
const beam: SearchPolicy = (played, round, { width, depth }) => {
  if (round === 0) return fromPrompt(width);
  if (round >= depth) return [];
  const kept = byScore(played)
    .filter(({ turns }) => turns > round)
    .slice(0, Math.ceil(width / 2));
  return kept.map(({ id }, index) => ({
    from: id,
    turn: round,
    count: Math.floor(width / kept.length) + (index < width % kept.length ? 1 : 0),
  }));
};

/** Weight of what was tried seldom, for values in [0, 1] (Kocsis and Szepesvari 2006, UCT: sqrt 2). */
const explorationWeight = Math.SQRT2;

/** A prefix of episodes: the first `turn` turns of `owner`. */
interface TreeNode {
  readonly owner: Candidate;
  readonly turn: number;
  readonly through: Candidate[];
  readonly children: Map<string, TreeNode>;
}

/**
 * Upper confidence bounds on the tree of turns. From the prompt down goes the child with the greatest
 * mean + sqrt(2) * sqrt(ln N / n), N the visits of its parent and n its own, until a node has fewer children than
 * max(2, ceil(sqrt n)) (progressive widening, Couetoux et al. 2011, alpha 1/2): there the round is played. Scores are brought to
 * [0, 1] over all that was played.
 */
const tree: SearchPolicy = (played, round, { width, depth }) => {
  if (round === 0) return fromPrompt(width);
  if (round >= depth || played.length === 0) return [];
  const valueOf = normalizer(played);
  let node = treeOf(played);
  for (;;) {
    const { owner, turn, through, children } = node;
    if (children.size < Math.max(2, Math.ceil(Math.sqrt(through.length)))) {
      return [{ from: owner.id, turn, count: width }];
    }
    const open = [...children.values()].filter(canBeLeft);
    if (open.length === 0) return turn === 0 ? fromPrompt(width) : [{ from: owner.id, turn, count: width }];
    const bound = ({ through: own }: TreeNode) =>
      own.reduce((sum, one) => sum + valueOf(one), 0) / own.length +
      explorationWeight * Math.sqrt(Math.log(through.length) / own.length);
    node = open.reduce((best, child) => (bound(child) > bound(best) ? child : best));
  }
};

/** Whether an episode goes on behind the prefix. */
const canBeLeft = ({ through, turn }: TreeNode) => through.some(({ turns }) => turns > turn);

/** The prefixes of the episodes; those that branches share are one node. */
function treeOf(played: readonly Candidate[]): TreeNode {
  const byId = new Map(played.map((candidate) => [candidate.id, candidate]));
  // Which episode a prefix of this one was first played in.
  const ownerOf = ({ id, origin }: Candidate, turn: number): string => {
    const parent = origin && byId.get(origin.trajectoryId);
    return parent && turn <= origin.turn ? ownerOf(parent, turn) : id;
  };
  const make = (owner: Candidate, turn: number): TreeNode => ({ owner, turn, through: [], children: new Map() });
  const root = make(played[0]!, 0);
  for (const candidate of played) {
    let node = root;
    node.through.push(candidate);
    for (let turn = 1; turn <= candidate.turns; turn++) {
      const owner = ownerOf(candidate, turn);
      let child = node.children.get(owner);
      if (child === undefined) node.children.set(owner, (child = make(byId.get(owner)!, turn)));
      child.through.push(candidate);
      node = child;
    }
  }
  return root;
}

/** Scores in [0, 1]: 0 for the least finite one and for those that are not finite. */
function normalizer(played: readonly Candidate[]): (candidate: Candidate) => number {
  const finite = played.map(({ score }) => score).filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return ({ score }) => (Number.isFinite(score) && high > low ? (score - low) / (high - low) : 0);
}

export const searchPolicies: Readonly<Record<SearchName, SearchPolicy>> = { 'best-of': bestOf, beam, tree };
