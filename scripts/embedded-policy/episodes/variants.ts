import { applySite, lineOf } from '../../../src/env/tasks/injection/operator.js';
import { OPERATORS } from '../../../src/env/tasks/injection/operators/index.js';
import { languageOf, parseSource } from '../../../src/env/tasks/injection/parsing.js';
import type { Rng } from '../programs/rng.js';

export interface Mutation {
  readonly operator: string;
  readonly line: number;
  readonly source: string;
}

/** Operators that no small change undoes: what they take away, the code does not show. */
const TAKING_AWAY = /-removal$/;

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
    .filter(({ operator, sites }) => sites.length > 0 && !TAKING_AWAY.test(operator.name));
  if (candidates.length === 0) return null;
  const { operator, sites } = rng.pick(candidates);
  const site = rng.pick(sites);
  return { operator: operator.name, line: lineOf(source, site), source: applySite(source, site) };
}
