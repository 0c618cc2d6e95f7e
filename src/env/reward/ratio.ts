import { ROOT, SuffixAutomaton } from './suffixAutomaton.js';

/**
 * The Ratcliff-Obershelp ratio 2M/T over code points, to the last bit what Python's
 * `difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()` gives. Two empty texts have ratio 1.
 */
export function ratio(a: string, b: string): number {
  return ratioAndCost(a, b).ratio;
}

/** A piece that two texts have in common: where it begins in each, and how long it is, in code points. */
export interface MatchingBlock {
  readonly a: number;
  readonly b: number;
  readonly length: number;
}

/**
 * The blocks whose lengths add up to M, in order, those that touch on both sides joined: what Python's
 * `difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()` gives, without its last, empty one.
 */
export function matchingBlocks(a: string, b: string): MatchingBlock[] {
  const found: MatchingBlock[] = [];
  countMatches(codePoints(a), codePoints(b), (block) => found.push(block));
  const joined: MatchingBlock[] = [];
  for (const block of found.sort((one, other) => one.a - other.a)) {
    const last = joined.at(-1);
    if (last && last.a + last.length === block.a && last.b + last.length === block.b)
      joined[joined.length - 1] = { ...last, length: last.length + block.length };
    else joined.push(block);
  }
  return joined;
}

/** The ratio, and what it cost in probes of the automaton's table. */
export function ratioAndCost(a: string, b: string): { readonly ratio: number; readonly probes: number } {
  const left = codePoints(a);
  const right = codePoints(b);
  const total = left.length + right.length;
  if (total === 0) return { ratio: 1, probes: 0 };
  const { matches, probes } = countMatches(left, right);
  return { ratio: (2 * matches) / total, probes };
}

/**
 * M: how many symbols lie in matching blocks, and the cost. difflib takes the longest common block (of equals the earliest in a, of
 * those the earliest in b) and goes on to its left and to its right.
 *
 * All blocks of the longest length L are taken here in one pass from left to right: the longest block right of one of
 * length L is again the next one of length L, as long as there is one, and what is left between them only holds
 * shorter ones. So L falls strictly on the way down, the blocks on a way down are disjoint, and hence its depth is below
 * sqrt(2 * min(|a|, |b|)); each level takes time linear in |a| + |b|.
 */
function countMatches(
  a: Int32Array,
  b: Int32Array,
  onBlock: (block: MatchingBlock) => void = () => undefined,
): { matches: number; probes: number } {
  const automaton = new SuffixAutomaton(b.length);
  const windows = new Int32Array(b.length);
  const nextWindow = new Int32Array(b.length);
  const firstWindow = new Int32Array(2 * b.length + 1);
  const pending: [aStart: number, aEnd: number, bStart: number, bEnd: number][] = [[0, a.length, 0, b.length]];
  let matches = 0;
  for (let range = pending.pop(); range; range = pending.pop()) {
    const [aStart, aEnd, bStart, bEnd] = range;
    if (aStart === aEnd || bStart === bEnd) continue;
    automaton.build(b, bStart, bEnd);
    let longest = 0;
    eachMatch(automaton, a, aStart, aEnd, Infinity, (_start, length) => (longest = Math.max(longest, length)));
    if (longest === 0) continue;

    // Where the windows of that length begin in b: for each state a list of positions in ascending order.
    eachMatch(automaton, b, bStart, bEnd, longest, (start, length, state) => {
      if (length === longest) windows[start] = state;
    });
    firstWindow.fill(-1, 0, automaton.states);
    for (let start = bEnd - longest; start >= bStart; start--) {
      nextWindow[start] = firstWindow[windows[start]];
      firstWindow[windows[start]] = start;
    }

    let aDone = aStart;
    let bDone = bStart;
    eachMatch(automaton, a, aStart, aEnd, longest, (start, length, state) => {
      if (length < longest || start < aDone) return;
      let found = firstWindow[state];
      while (found !== -1 && found < bDone) found = nextWindow[found];
      firstWindow[state] = found;
      if (found === -1) return;
      pending.push([aDone, start, bDone, found]);
      matches += longest;
      onBlock({ a: start, b: found, length: longest });
      aDone = start + longest;
      bDone = found + longest;
    });
    pending.push([aDone, aEnd, bDone, bEnd]);
  }
  return { matches, probes: automaton.probes };
}

/**
 * Reads symbols[start, end) and calls `visit` after each symbol that the automaton knows: where the longest piece of at
 * most `limit` symbols that ends there begins, its length, and the state that it leads to.
 */
function eachMatch(
  automaton: SuffixAutomaton,
  symbols: Int32Array,
  start: number,
  end: number,
  limit: number,
  visit: (start: number, length: number, state: number) => void,
): void {
  let state = ROOT;
  let length = 0;
  for (let at = start; at < end; at++) {
    let next = automaton.next(state, symbols[at]);
    while (next === -1 && state !== ROOT) {
      state = automaton.link[state];
      length = automaton.length[state];
      next = automaton.next(state, symbols[at]);
    }
    if (next === -1) continue;
    state = next;
    length = Math.min(length + 1, limit);
    while (state !== ROOT && automaton.length[automaton.link[state]] >= limit) state = automaton.link[state];
    visit(at - length + 1, length, state);
  }
}

/** Python's strings are code points, JavaScript's UTF-16 units. */
function codePoints(text: string): Int32Array {
  const points = new Int32Array(text.length);
  let count = 0;
  for (let at = 0; at < text.length; count++) {
    const point = text.codePointAt(at)!;
    points[count] = point;
    at += point > 0xffff ? 2 : 1;
  }
  return points.subarray(0, count);
}
