import { createHash } from 'node:crypto';
import { seededOrder } from '../seededOrder.js';
import { leavesUnused } from './goUses.js';
import { enclosingFunction } from './nodes.js';
import { applySite, lineOf, type BugOperator, type BugSite } from './operator.js';
import { countSyntaxErrors, languageOf, parseSource } from './parsing.js';

export interface SourceFile {
  /** Relative to the repository root, with `/`. */
  readonly path: string;
  readonly text: string;
}

/** One bug that could be put in. */
export interface BugCandidate {
  readonly path: string;
  readonly operator: string;
  readonly description: string;
  /** Counted from 1. */
  readonly line: number;
  /** Line of the innermost function around the site; 0 at the top level. */
  readonly scopeLine: number;
  readonly before: string;
  readonly after: string;
  readonly site: BugSite;
}

/**
 * Every candidate of the files, none twice, in an order fixed by the seed. The operators take turns, and in each
 * operator's turns the files do, so that any first part of the sequence is varied. Files are parsed when the first
 * candidate is asked for; a broken text that no longer parses is passed over.
 */
export function* bugCandidates(
  files: readonly SourceFile[],
  operators: readonly BugOperator[],
  seed: number,
): Generator<BugCandidate> {
  const queues = seededOrder(operatorQueues(files, operators, seed), seed, ({ operator }) => operator);
  const seen = new Set<string>();
  for (let turn = 0; queues.some(({ places }) => turn < places.length); turn++) {
    for (const { operator, places } of queues) {
      const place = places.at(turn);
      const candidate = place === undefined ? null : breakFile(place, operator);
      if (candidate === null) continue;
      const identity = createHash('sha256')
        .update(JSON.stringify([candidate.path, candidate.after]))
        .digest('hex');
      if (seen.has(identity)) continue;
      seen.add(identity);
      yield candidate;
    }
  }
}

interface Place {
  readonly file: SourceFile;
  readonly errors: number;
  readonly site: BugSite;
}

function operatorQueues(files: readonly SourceFile[], operators: readonly BugOperator[], seed: number) {
  const perFile = files.map((file) => sitesOf(file, operators));
  return operators.map((operator, index) => {
    const shuffled = perFile.map((sites) =>
      seededOrder(sites[index], seed, ({ file, site }) => JSON.stringify([operator.name, file.path, site.start])),
    );
    const order = seededOrder(shuffled, `${seed} ${operator.name}`, (places) => places[0]?.file.path ?? '');
    return { operator: operator.name, places: roundRobin(order) };
  });
}

/** Sites of a file for each operator. The tree is let go afterwards. */
function sitesOf(file: SourceFile, operators: readonly BugOperator[]): Place[][] {
  const language = languageOf(file.path);
  if (language === null) return operators.map(() => []);
  const source = parseSource(file.text, language);
  const errors = countSyntaxErrors(source.root);
  return operators.map((operator) =>
    operator.languages.includes(language)
      ? operator
          .sites(source)
          .filter((site) => language !== 'go' || !leavesUnused(source, site))
          .map((site) => ({ file, errors, site }))
      : [],
  );
}

function roundRobin<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, turn) => lists.flatMap((list) => list.slice(turn, turn + 1))).flat();
}

/** Null where the bug would change nothing or the file would no longer parse. */
function breakFile({ file, errors, site }: Place, operator: string): BugCandidate | null {
  const language = languageOf(file.path);
  const after = applySite(file.text, site);
  if (language === null || after === file.text) return null;
  const { root } = parseSource(after, language);
  if (countSyntaxErrors(root) > errors) return null;
  // Up to the site both texts are the same, so the broken tree knows the function around it.
  const scope = enclosingFunction(root.descendantForIndex(site.start));
  return {
    path: file.path,
    operator,
    description: site.description,
    line: lineOf(file.text, site),
    scopeLine: scope === null ? 0 : scope.startPosition.row + 1,
    before: file.text,
    after,
    site,
  };
}
