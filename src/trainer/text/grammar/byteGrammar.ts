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

/**
 * The strings of `rule` in which no part is one of `forbidden`: both automata side by side (product construction).
 * @param behind what stands before the string, for parts that begin there
 */
export function without(rule: Rule, forbidden: Rule, behind = ''): Rule {
  const anything = many(bytes([0x00, 0xff]));
  const begun = [...new TextEncoder().encode(behind)].reduce(
    (state, byte) => state.next(byte)!,
    grammar(sequence(anything, forbidden)),
  );
  const states: { readonly own: GrammarState; readonly other: GrammarState; readonly edges: Edge[] }[] = [];
  const numbers = new Map<GrammarState, Map<GrammarState, number>>();
  const numberOf = (own: GrammarState, other: GrammarState): number => {
    const row = numbers.get(own) ?? new Map<GrammarState, number>();
    numbers.set(own, row);
    const number = row.get(other) ?? states.push({ own, other, edges: [] }) - 1;
    row.set(other, number);
    return number;
  };
  numberOf(grammar(rule), begun);
  for (const { own, other, edges } of states) {
    for (let byte = 0; byte < 256; byte++) {
      const [next, met] = [own.next(byte), other.next(byte)!];
      if (next === null || met.isWhole) continue;
      const to = numberOf(next, met);
      const last = edges.at(-1);
      if (last?.to === to && last.high === byte - 1) edges[edges.length - 1] = { ...last, high: byte };
      else edges.push({ low: byte, high: byte, to });
    }
  }
  const leads = leadingToWhole(states);
  return (builder, from) => {
    const to = builder.state();
    const own = states.map((_, index) => (leads.has(index) ? builder.state() : -1));
    builder.jump(from, own[0]!);
    states.forEach((state, index) => {
      if (!leads.has(index)) return;
      if (state.own.isWhole) builder.jump(own[index]!, to);
      for (const edge of state.edges) {
        if (leads.has(edge.to)) builder.edge(own[index]!, edge.low, edge.high, own[edge.to]!);
      }
    });
    return to;
  };
}

/** The states from which a whole string can be reached. */
function leadingToWhole(
  states: readonly { readonly own: GrammarState; readonly edges: readonly Edge[] }[],
): Set<number> {
  const sources = states.map(() => new Set<number>());
  states.forEach(({ edges }, from) => edges.forEach(({ to }) => sources[to]!.add(from)));
  const leads = new Set([...states.keys()].filter((index) => states[index]!.own.isWhole));
  for (const index of leads) for (const from of sources[index]!) leads.add(from);
  return leads;
}
