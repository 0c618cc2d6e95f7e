import { posix } from 'node:path';
import { fileFacts, type FileFacts, type FunctionFacts, type FunctionPart, type TestBlock } from './fileFacts.js';
import { bareTitle, fits } from './titles.js';

/** A function that may be at fault, or the part of a long one that begins at `line`. `start` and `end` are the whole function's. */
export interface Suspect extends Pick<FunctionFacts, 'name' | 'start' | 'end'>, FunctionPart {
  readonly path: string;
}

export interface Evidence {
  /** Source files that the tests load, by path, each with its text and the number of imports on the way. */
  readonly sources: ReadonlyMap<string, { readonly text: string; readonly steps: number }>;
  /** Test files by path. */
  readonly tests: ReadonlyMap<string, string>;
  /** Identifiers of the failing tests, as `file > part > part`. */
  readonly failing: readonly string[];
  /** What is said of the failures. */
  readonly statement: string;
}

/** Of the calls on the way from a test. */
const deepest = 6;
/** What a call on the way leaves of a weight. */
const decay = 0.7;
/** A name that more functions bear says nothing. */
const mostBearers = 64;
/** Bugs are likelier where there is more to change. */
const sizeExponent = 0.35;

/** What a part of a function keeps of the score of the part before it. */
const partDecay = 0.9;

interface Candidate {
  readonly path: string;
  readonly name: string;
  readonly facts: FunctionFacts;
  readonly steps: number;
}

/**
 * The named functions of the sources, in parts where they are long, the likeliest first. Which tests may run a function is read from the names that they use, and
 * those that what they use uses. Held against the tests that pass, as spectrum-based fault localization does (Ochiai; Abreu
 * et al. 2007), with weights in place of counts. Ties are broken by path and place.
 */
export function rankSuspects({ sources, tests, failing, statement }: Evidence): readonly Suspect[] {
  const candidates = [...sources].flatMap(([path, { text, steps }]) =>
    fileFacts(path, text)
      .functions.filter(({ parts }) => parts.length > 0)
      .map((facts): Candidate => ({ path, name: facts.name, facts, steps })),
  );
  const reach = new Reach(candidates);
  const { failed, passed } = testBlocks(tests, failing);
  const covered = sums(failed.map((names) => reach.from(names)));
  const spared = sums(passed.map((names) => reach.from(names)));
  const words = new Set(statement.match(/[A-Za-z_$][\w$]*/g) ?? []);
  const titleWords = new Set(failing.flatMap(nameWords));
  const testedNames = new Set(failing.map((id) => testedName(fileOf(id))));
  const scored = candidates.flatMap((one) => {
    const inFailed = covered.get(one) ?? 0;
    const ochiai = inFailed === 0 ? 0 : inFailed / Math.sqrt(failed.length * (inFailed + (spared.get(one) ?? 0)));
    const told = one.facts.literals.some((piece) => statement.includes(piece)) ? 1 : 0;
    const isNamed = (words.has(one.name) && one.name.length > 2) || titleWords.has(plainName(one.name));
    const isNear = testedNames.has(testedName(one.path));
    const evidence = ochiai + 0.5 * told + (isNamed ? 0.25 : 0) + (isNear ? 0.2 : 0) + 0.1 / one.steps;
    const { path, name, facts } = one;
    return facts.parts.map((part, index) => ({
      suspect: { path, name, start: facts.start, end: facts.end, ...part },
      score: evidence * (2 + part.changes.length) ** sizeExponent * partDecay ** index,
    }));
  });
  const byPlace = (a: Suspect, b: Suspect) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : a.start - b.start || a.line - b.line;
  return scored.sort((a, b) => b.score - a.score || byPlace(a.suspect, b.suspect)).map(({ suspect }) => suspect);
}

function sums(reaches: readonly ReadonlyMap<Candidate, number>[]): ReadonlyMap<Candidate, number> {
  const total = new Map<Candidate, number>();
  for (const weights of reaches) {
    for (const [one, weight] of weights) total.set(one, (total.get(one) ?? 0) + weight);
  }
  return total;
}

/** The file of a test, by the test's identifier. */
export const fileOf = (id: string) => id.split(' > ', 1)[0];

const plainName = (name: string) => name.toLowerCase().replace(/_/g, '');
const nameWords = (text: string): readonly string[] => plainName(text).match(/[a-z0-9]+/g) ?? [];

/** What a test file is named after: the name of a source file without its suffix, as that of the file of its tests. */
function testedName(path: string): string {
  const stem = posix
    .basename(path)
    .replace(/\.\w+$/, '')
    .toLowerCase();
  const bare = stem.replace(/^test[_-]?|[._-]?(test|spec)s?$/g, '').replace(/[^a-z0-9]/g, '');
  // A file that has no other name is named after nothing.
  return bare === '' ? path : bare;
}

/**
 * The names that each test uses, of those that fail and of the others; a failing one that is not found is its whole file, and
 * then which of the file's tests pass is not known.
 */
function testBlocks(
  tests: ReadonlyMap<string, string>,
  failing: readonly string[],
): { readonly failed: readonly ReadonlySet<string>[]; readonly passed: readonly ReadonlySet<string>[] } {
  const failed: ReadonlySet<string>[] = [];
  const passed: ReadonlySet<string>[] = [];
  for (const [path, text] of tests) {
    const facts = fileFacts(path, text);
    const titles = failing.filter((id) => id.startsWith(`${path} > `)).map((id) => id.slice(path.length + 3));
    const found = new Set(titles.map((title) => blockOf(facts.blocks, title.split(' > '))));
    const isUnknown = found.delete(null);
    const hit = [...found].filter((block) => block !== null);
    if (isUnknown) failed.push(facts.names);
    for (const block of hit) failed.push(withHelpers(block.names, facts));
    if (isUnknown) continue;
    for (const block of innermost(facts.blocks.filter(({ isTest }) => isTest))) {
      if (hit.some((one) => one === block || contains(one, block))) continue;
      passed.push(withHelpers(block.names, facts));
    }
  }
  return { failed: failed.length > 0 ? failed : [...tests].map(([path, text]) => fileFacts(path, text).names), passed };
}

/** Those that contain no other one. */
function innermost(blocks: readonly TestBlock[]): readonly TestBlock[] {
  const ordered = [...blocks].sort((a, b) => a.start - b.start || b.end - a.end);
  return ordered.filter((block, index) => index + 1 === ordered.length || !contains(block, ordered[index + 1]));
}

const contains = (outer: TestBlock, inner: TestBlock) =>
  outer.start <= inner.start && inner.end <= outer.end && outer.end - outer.start > inner.end - inner.start;

/** The innermost block that a title's parts lead to, as far as they do. */
function blockOf(blocks: readonly TestBlock[], parts: readonly string[]): TestBlock | null {
  let found: TestBlock | null = null;
  for (const part of parts) {
    const around: TestBlock | null = found;
    const inside: readonly TestBlock[] = around === null ? blocks : blocks.filter((block) => contains(around, block));
    const bare = bareTitle(part);
    found = inside.find(({ title }) => fits(title, part)) ?? inside.find(({ title }) => fits(title, bare)) ?? found;
  }
  return found;
}

/** With what the test file's own functions use that a block names. */
function withHelpers(names: ReadonlySet<string>, facts: FileFacts): ReadonlySet<string> {
  const all = new Set(names);
  for (const helper of facts.functions) {
    if (names.has(helper.name) && !/^test/i.test(helper.name)) for (const name of helper.names) all.add(name);
  }
  return all;
}

/** Functions that a name may mean, with the weight of each. */
type Bearers = readonly (readonly [one: Candidate, share: number])[];

/** Which functions code may run, by the names that it uses. */
class Reach {
  private readonly byName = new Map<string, Bearers>();
  private readonly called = new Map<FunctionFacts, readonly Bearers[]>();

  constructor(candidates: readonly Candidate[]) {
    const named = groups(candidates, ({ name }) => name);
    const owned = groups(candidates, ({ facts }) => facts.owner);
    for (const name of new Set([...named.keys(), ...owned.keys()])) {
      const own = named.get(name) ?? [];
      const made = owned.get(name) ?? [];
      const bearers = [
        ...(own.length > mostBearers ? [] : own.map((one) => [one, 1 / Math.sqrt(own.length)] as const)),
        ...(made.length > mostBearers ? [] : made.map((one) => [one, shareOfMethod(one.name)] as const)),
      ];
      this.byName.set(name, bearers);
    }
    for (const { facts } of candidates) this.called.set(facts, this.calledBy(facts.names));
  }

  /** Weights of what is reached: less with every call on the way, and where a name is that of many functions. */
  from(names: ReadonlySet<string>): ReadonlyMap<Candidate, number> {
    const weights = new Map<Candidate, number>();
    let wave: (readonly [called: readonly Bearers[], weight: number])[] = [[this.calledBy(names), 1]];
    for (let depth = 0; depth < deepest && wave.length > 0; depth += 1) {
      const next = new Map<Candidate, number>();
      for (const [called, weight] of wave) {
        for (const bearers of called) {
          for (const [one, share] of bearers) {
            const reached = weight * share;
            if (reached > (weights.get(one) ?? 0)) {
              weights.set(one, reached);
              next.set(one, reached);
            }
          }
        }
      }
      wave = [...next].map(([one, weight]) => [this.called.get(one.facts) ?? [], weight * decay]);
    }
    return weights;
  }

  private calledBy(names: ReadonlySet<string>): readonly Bearers[] {
    return [...names].flatMap((name) => {
      const bearers = this.byName.get(name);
      return bearers === undefined ? [] : [bearers];
    });
  }
}

function groups(candidates: readonly Candidate[], keyOf: (one: Candidate) => string | null): Map<string, Candidate[]> {
  const grouped = new Map<string, Candidate[]>();
  for (const one of candidates) {
    const key = keyOf(one);
    const group = key === null ? undefined : grouped.get(key);
    if (group !== undefined) group.push(one);
    else if (key !== null) grouped.set(key, [one]);
  }
  return grouped;
}

/** Who names a class makes one, and may call its methods. */
function shareOfMethod(name: string): number {
  if (/^(constructor|__init__|__new__|new)$/.test(name)) return 1;
  return /^__\w+__$/.test(name) ? 0.5 : 0.2;
}
