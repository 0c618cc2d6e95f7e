import type { TestResult } from '../../../src/env/testing/testRunner.js';
import { applySite, lineOf } from '../../../src/env/tasks/injection/operator.js';
import { OPERATORS } from '../../../src/env/tasks/injection/operators/index.js';
import { languageOf, parseSource } from '../../../src/env/tasks/injection/parsing.js';
import type { Program } from '../programs/program.js';
import type { Rng } from '../programs/rng.js';

/** A module's source with something changed, and what its tests said of it. */
export interface Variant {
  readonly program: Program;
  readonly source: string;
  results: readonly TestResult[] | null;
}

export interface Mutation {
  readonly operator: string;
  readonly line: number;
  readonly source: string;
}

/** Operators whose undoing can not be read off the code are struck less often. */
export const HARD = new Set([
  'statement-removal',
  'condition-removal',
  'clause-removal',
  'null-guard-removal',
  'return-value',
]);

/** One bug by the product's own operators: an operator first, then one of its sites. */
export function randomMutation(
  rng: Rng,
  path: string,
  source: string,
  near?: { first: number; last: number },
): Mutation | null {
  const language = languageOf(path);
  if (language === null) return null;
  const parsed = parseSource(source, language);
  const candidates = OPERATORS.filter((operator) => operator.languages.includes(language))
    .map((operator) => ({
      operator,
      sites: operator.sites(parsed).filter((site) => {
        const line = lineOf(source, site);
        return near === undefined || (line >= near.first && line <= near.last);
      }),
    }))
    .filter(({ operator, sites }) => sites.length > 0 && (!HARD.has(operator.name) || rng.chance(0.3)));
  if (candidates.length === 0) return null;
  const { operator, sites } = rng.pick(candidates);
  const site = rng.pick(sites);
  return { operator: operator.name, line: lineOf(source, site), source: applySite(source, site) };
}
