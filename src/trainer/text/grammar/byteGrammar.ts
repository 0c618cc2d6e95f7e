/** A regular set of byte strings, as a part of an automaton: states are numbers, `null` in place of a byte is the empty string. */
export type Rule = (builder: AutomatonBuilder, from: number) => number;

interface Edge {
  /** Bytes from `low` to `high`. */
  readonly low: number;
  readonly high: number;
  readonly to: number;
}

/** Thompson's construction (1968): each rule adds its states behind one that is there and gives the state that it ends in. */
class AutomatonBuilder {
  readonly edges: Edge[][] = [];
  readonly empty: number[][] = [];

  state(): number {
    this.edges.push([]);
    return this.empty.push([]) - 1;
  }

  edge(from: number, low: number, high: number, to: number): void {
    this.edges[from]!.push({ low, high, to });
  }

  jump(from: number, to: number): void {
    this.empty[from]!.push(to);
  }
}

export const literal =
  (text: string): Rule =>
  (builder, from) =>
    [...new TextEncoder().encode(text)].reduce((at, byte) => bytes([byte, byte])(builder, at), from);

/** One byte of any of the ranges. */
export const bytes =
  (...ranges: readonly (readonly [number, number])[]): Rule =>
  (builder, from) => {
    const to = builder.state();
    for (const [low, high] of ranges) builder.edge(from, low, high, to);
    return to;
  };

export const sequence =
  (...rules: readonly Rule[]): Rule =>
  (builder, from) =>
    rules.reduce((at, rule) => rule(builder, at), from);

export const choice =
  (...rules: readonly Rule[]): Rule =>
  (builder, from) => {
    const to = builder.state();
    for (const rule of rules) builder.jump(rule(builder, from), to);
    return to;
  };

/** Any number of times, none too. */
export const many =
  (rule: Rule): Rule =>
  (builder, from) => {
    const loop = builder.state();
    builder.jump(from, loop);
    builder.jump(rule(builder, loop), loop);
    const to = builder.state();
    builder.jump(loop, to);
    return to;
  };

export const nothing: Rule = (_builder, from) => from;
export const optional = (rule: Rule) => choice(rule, nothing);

/** Where an automaton that reads byte strings stands; made as it is needed, each set of states once (subset construction). */
export interface GrammarState {
  /** Whether what was read so far is whole. */
  readonly isWhole: boolean;
  /** Where the byte leads to; null where no whole string begins so. */
  next(byte: number): GrammarState | null;
}

/** Every state of a rule's automaton leads to a whole string, so that a state is never a dead end. */
export function grammar(rule: Rule): GrammarState {
  const builder = new AutomatonBuilder();
  const start = builder.state();
  const end = rule(builder, start);
  const known = new Map<string, GrammarState>();
  const closed = (states: Iterable<number>): number[] => {
    const found = new Set(states);
    for (const state of found) for (const to of builder.empty[state]!) found.add(to);
    return [...found].sort((a, b) => a - b);
  };
  const stateOf = (states: readonly number[]): GrammarState => {
    const key = states.join();
    const before = known.get(key);
    if (before !== undefined) return before;
    const following = new Array<GrammarState | null | undefined>(256);
    const made: GrammarState = {
      isWhole: states.includes(end),
      next(byte) {
        const after = following[byte];
        if (after !== undefined) return after;
        const reached = states.flatMap((state) =>
          builder.edges[state]!.filter(({ low, high }) => low <= byte && byte <= high).map(({ to }) => to),
        );
        return (following[byte] = reached.length === 0 ? null : stateOf(closed(reached)));
      },
    };
    known.set(key, made);
    return made;
  };
  return stateOf(closed([start]));
}
