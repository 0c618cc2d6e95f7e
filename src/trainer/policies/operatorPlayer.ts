import { applySite, lineOf } from '../../env/tasks/injection/operator.js';
import { enclosingFunction } from '../../env/tasks/injection/nodes.js';
import { OPERATORS } from '../../env/tasks/injection/operators/index.js';
import { languageOf, parseSource } from '../../env/tasks/injection/parsing.js';
import { seededOrder } from '../../env/tasks/seededOrder.js';
import { cancelled } from '../../trajectory/errors.js';
import type { AssistantMessage, ToolMessage } from '../../trajectory/message.js';
import type { MessagePlayer } from '../rollout/arena.js';
import { beginningOf, withoutTokens, type Dialogue, type Opening } from '../rollout/dialogue.js';
import type { NodePath } from '../rollout/nodes.js';
import { parseAssistantText } from '../text/toolCalls.js';
import { textIn } from '../warmStart/demonstrations.js';
import { oracleChanges } from '../warmStart/expertTurns.js';
import { lineEdit } from '../warmStart/lineEdit.js';
import { editCall, toolCall } from '../warmStart/turnText.js';

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
    return new OperatorDialogue(opening, ordered.slice(0, testRuns));
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

/** Tries one after the other until the tests pass. */
class OperatorDialogue implements Dialogue {
  readonly path: NodePath;
  private tried = 0;
  private isTesting = false;
  private allPass = false;

  constructor(
    opening: Opening,
    private readonly variants: readonly Variant[],
  ) {
    this.path = beginningOf(opening, () => withoutTokens(opening.prompt)).path;
  }

  next(signal: AbortSignal): Promise<AssistantMessage | null> {
    if (signal.aborted) return Promise.reject(cancelled());
    const message = parseAssistantText(this.turn());
    const none = new Float32Array(0);
    const tokens = { tokenIds: new Int32Array(0), logprobs: none, entropies: none };
    this.path.addSampled(message, { ...tokens, finishReason: 'stop' });
    return Promise.resolve(message);
  }

  private turn(): string {
    if (this.isTesting) return toolCall('run_tests', {});
    const before = this.variants[this.tried - 1];
    const next = this.variants[this.tried];
    if (this.allPass || (before === undefined && next === undefined)) return toolCall('submit', {});
    if (next === undefined) return [before.undo, toolCall('submit', {})].join('\n');
    return before === undefined ? next.change : [before.undo, next.change].join('\n');
  }

  observe(observations: readonly ToolMessage[]): void {
    for (const message of observations) this.path.addGiven(message, new Int32Array(0));
    if (this.isTesting) {
      this.tried += 1;
      this.allPass = /^\d+ passed, 0 failed/.test(observations[0]?.content ?? '');
    }
    this.isTesting = !this.isTesting;
  }

  end(): void {
    // There is nothing to give back.
  }
}
