/** The start state; its suffix link is -1. */
export const ROOT = 0;
const NONE = -1;

// Drawn anew in each process: else a text could be made whose transitions all fall into one corner of the table.
const oddNumber = () => (Math.random() * 2 ** 32) | 1;
const [STATE_FACTOR, SYMBOL_FACTOR, LAST_FACTOR] = [oddNumber(), oddNumber(), oddNumber()];

/**
 * Suffix automaton of a range of code points (Blumer et al. 1985): the smallest automaton that reads every substring of
 * it. Building takes time linear in the range. One instance is reused for many ranges, so that nothing is allocated.
 * Transitions live in an open-addressed hash table, so that the alphabet may be all of Unicode.
 */
export class SuffixAutomaton {
  /** Length of the longest substring that leads to a state: [states]. */
  readonly length: Int32Array;
  /** Suffix link of a state: [states]. */
  readonly link: Int32Array;
  states = 0;
  /** Places of the hash table looked at since the instance was made: what building and reading cost. */
  probes = 0;
  /** Newest transition of a state, the head of a list through `nextOfState`: [states]. */
  private readonly newest: Int32Array;
  private readonly slotState: Int32Array;
  private readonly slotSymbol: Int32Array;
  private readonly slotTarget: Int32Array;
  private readonly nextOfState: Int32Array;
  private shift = 0;

  /** `capacity` is the longest range that will be built, in symbols. */
  constructor(capacity: number) {
    const states = 2 * capacity + 1;
    // A suffix automaton of n symbols has at most 2n states and 3n transitions.
    const slots = slotsFor(capacity);
    this.length = new Int32Array(states);
    this.link = new Int32Array(states);
    this.newest = new Int32Array(states);
    this.slotState = new Int32Array(slots);
    this.slotSymbol = new Int32Array(slots);
    this.slotTarget = new Int32Array(slots);
    this.nextOfState = new Int32Array(slots);
  }

  /** Forgets what was built and reads symbols[start, end). */
  build(symbols: Int32Array, start: number, end: number): void {
    const slots = slotsFor(end - start);
    this.shift = Math.clz32(slots) + 1;
    this.slotState.fill(NONE, 0, slots);
    this.states = 0;
    let last = this.addState(0, NONE);
    for (let at = start; at < end; at++) last = this.append(last, symbols[at]);
  }

  /** The state that `symbol` leads to from `state`, or -1. */
  next(state: number, symbol: number): number {
    const slot = this.slot(state, symbol);
    return this.slotState[slot] === NONE ? NONE : this.slotTarget[slot];
  }

  private append(last: number, symbol: number): number {
    const state = this.addState(this.length[last] + 1, ROOT);
    let from = last;
    let slot = 0;
    for (; from !== NONE; from = this.link[from]) {
      slot = this.slot(from, symbol);
      if (this.slotState[slot] !== NONE) break;
      this.fillSlot(slot, from, symbol, state);
    }
    if (from === NONE) return state;
    const target = this.slotTarget[slot];
    if (this.length[target] === this.length[from] + 1) {
      this.link[state] = target;
      return state;
    }
    const clone = this.addState(this.length[from] + 1, this.link[target]);
    for (let copied = this.newest[target]; copied !== NONE; copied = this.nextOfState[copied]) {
      const other = this.slotSymbol[copied];
      this.fillSlot(this.slot(clone, other), clone, other, this.slotTarget[copied]);
    }
    for (; from !== NONE; from = this.link[from]) {
      slot = this.slot(from, symbol);
      if (this.slotTarget[slot] !== target) break;
      this.slotTarget[slot] = clone;
    }
    this.link[target] = clone;
    this.link[state] = clone;
    return state;
  }

  private addState(length: number, link: number): number {
    const state = this.states++;
    this.length[state] = length;
    this.link[state] = link;
    this.newest[state] = NONE;
    return state;
  }

  /** Where (state, symbol) is, or the free slot where it belongs. */
  private slot(state: number, symbol: number): number {
    const mask = (1 << (32 - this.shift)) - 1;
    const mixed = Math.imul(state, STATE_FACTOR) + Math.imul(symbol, SYMBOL_FACTOR);
    let slot = Math.imul(mixed ^ (mixed >>> 15), LAST_FACTOR) >>> this.shift;
    this.probes++;
    while (this.slotState[slot] !== NONE && (this.slotState[slot] !== state || this.slotSymbol[slot] !== symbol)) {
      slot = (slot + 1) & mask;
      this.probes++;
    }
    return slot;
  }

  private fillSlot(slot: number, state: number, symbol: number, target: number): void {
    this.slotState[slot] = state;
    this.slotSymbol[slot] = symbol;
    this.slotTarget[slot] = target;
    this.nextOfState[slot] = this.newest[state];
    this.newest[state] = slot;
  }
}

/** A power of two that keeps the table at most three quarters full. */
const slotsFor = (symbols: number) => 2 ** Math.ceil(Math.log2(Math.max(8, 4 * symbols)));
