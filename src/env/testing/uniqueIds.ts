import type { TestResult } from './testRunner.js';

/** A result before its id is known to be the only one of its name. `path` holds the suites' names and the test's own. */
export interface NamedResult extends Omit<TestResult, 'id' | 'name'> {
  readonly path: readonly string[];
}

/** Ids of the form `file > suite > name`; the second of a name gets ` #2`. The order is kept. */
export function withUniqueIds(results: readonly NamedResult[]): TestResult[] {
  const seen = new Map<string, number>();
  return results.map(({ path, ...result }) => {
    const names = path.map((name) => name.replace(/\s+/g, ' ').trim());
    const id = [result.file, ...names].join(' > ');
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return { ...result, name: names.join(' > ') || result.file, id: count === 1 ? id : `${id} #${count}` };
  });
}
