import { applySite, lineOf } from '../../env/tasks/injection/operator.js';
import { enclosingFunction } from '../../env/tasks/injection/nodes.js';
import { OPERATORS } from '../../env/tasks/injection/operators/index.js';
import { languageOf, parseSource } from '../../env/tasks/injection/parsing.js';
import { seededOrder } from '../../env/tasks/seededOrder.js';
import type { ToolMessage } from '../../trajectory/message.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { textIn } from '../warmStart/demonstrations.js';
import { oracleChanges } from '../warmStart/expertTurns.js';
import { lineEdit } from '../warmStart/lineEdit.js';
import { editCall, toolCall } from '../warmStart/turnText.js';
import { ScriptedDialogue } from './scriptedDialogue.js';

/**
 * `random-edit` strikes with operators of the injection at random, `operator-search` with each in the order of the file. Most
 * operators are their own inverses, or undo one another.
 */
export type OperatorOrder = 'random-edit' | 'operator-search';

/**
 * What a policy is compared with: a player who is told the function at fault (the oracle's), changes it by the operators that
 * put bugs in, one change at a time, and submits where the tests pass.
 * @param testRuns changes that it tries at most
 */
export const operatorPlayer = (order: OperatorOrder, testRuns: number): MessagePlayer => ({
  policyStep: 0,
  async converse(opening) {
    const { task, seed } = opening.plan;
    const changes = await oracleChanges(task, (path) => textIn(opening.root, path));
    const tried = changes.flatMap(({ path, before, after }) =>
      before === null || after === null ? [] : variants(path, before, after),
    );
    const ordered = order === 'random-edit' ? seededOrder(tried, String(seed), ({ key }) => key) : tried;
    return new ScriptedDialogue(opening, attempts(ordered.slice(0, testRuns)));
  },
});

/** A changed text of a file, and the calls that lead to it and back. */
interface Variant {
  readonly key: string;
  readonly change: string;
  readonly undo: string;
}

/** What any operator makes of the function in which two texts differ; of the whole file where that is in none. */
function variants(path: string, before: string, after: string): Variant[] {
  const language = languageOf(path);
  const fault = lineEdit(before, after);
  if (language === null || fault === null) return [];
  const parsed = parseSource(before, language);
  const at = { row: fault.line - 1, column: fault.shown.search(/\S|$/) };
  const node = parsed.root.descendantForPosition(at);
  const around = enclosingFunction(node) ?? parsed.root;
  const [first, last] = [around.startPosition.row + 1, around.endPosition.row + 1];
  return OPERATORS.filter((operator) => operator.languages.includes(language))
    .flatMap((operator) => operator.sites(parsed).map((site) => ({ site, line: lineOf(before, site), operator })))
    .filter(({ line }) => first <= line && line <= last)
    .sort((a, b) => a.site.start - b.site.start)
    .flatMap(({ site, operator }) => {
      const text = applySite(before, site);
      const [change, undo] = [lineEdit(before, text), lineEdit(text, before)];
      if (change === null || undo === null) return [];
      const key = `${operator.name} ${site.start} ${site.replacement}`;
      return [{ key, change: editCall(path, change), undo: editCall(path, undo) }];
    });
}

/** Tries one after the other until the tests pass; a change with which they fail is taken back. */
function* attempts(variants: readonly Variant[]): Generator<string, void, readonly ToolMessage[]> {
  let undo: readonly string[] = [];
  for (const variant of variants) {
    yield [...undo, variant.change].join('\n');
    const [report] = yield toolCall('run_tests', {});
    const allPass = /^\d+ passed, 0 failed/.test(report?.content ?? '');
    undo = allPass ? [] : [variant.undo];
    if (allPass) break;
  }
  yield [...undo, toolCall('submit', {})].join('\n');
}
