import { lookUp } from '../bindings.js';
import {
  ancestors,
  brief,
  calledName,
  CALL_TYPES,
  enclosingFunction,
  field,
  IF_TYPES,
  isBlock,
  nodesOf,
  parts,
  removeStatement,
  statementOf,
} from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { bindsNames } from './condition.js';
import { isErrorTest } from './errorTest.js';
import { isNullTest } from './nullTest.js';

const EFFECTS = new Set([
  ...CALL_TYPES,
  'await_expression',
  'await',
  'try_expression',
  'assignment_expression',
  'augmented_assignment_expression',
  'augmented_assignment',
  'compound_assignment_expr',
  'update_expression',
]);
const STATEMENTS = ['expression_statement', 'assignment_statement', 'inc_statement', 'dec_statement'];
/** What follows would not compile, or would only crash. */
const ENDING = /^(panic|Exit|exit|Fatal\w*|abort|super)$/;
/** What is written for people to read; no test looks at it. */
const TALKING = /^(console|logger|log|logging|LOG|LOGGER)$/;
const UNCHECKED =
  /^(Exception|Throwable|RuntimeException|Error|\w*(Argument|State|Pointer|NumberFormat|Cast|Arithmetic|OutOfBounds|UnsupportedOperation|NoSuchElement|DateTime\w*|ConcurrentModification|Security)Exception)$/;

/** Inside of a `try` of Java whose `catch` needs something that can throw. */
function isTried(node: SyntaxNode): boolean {
  return ancestors(node)
    .filter(({ type }) => /^try_/.test(type))
    .some((tried) =>
      tried.descendantsOfType('catch_type').some((caught) => parts(caught).some((type) => !UNCHECKED.test(type.text))),
    );
}

/** Gives a variable its first value, so that the compiler wants it. */
function isFirstValue(source: ParsedSource, expression: SyntaxNode): boolean {
  if (expression.type !== 'assignment_expression' || field(expression, 'operator')?.text.length === 2) return false;
  const target = field(expression, 'left');
  if (target === null || (source.language !== 'java' && source.language !== 'rust')) return false;
  if (target.type === 'identifier') {
    return lookUp(source, target.text, target) === undefined;
  }
  return enclosingFunction(expression)?.type === 'constructor_declaration';
}

function isRemovable(source: ParsedSource, statement: SyntaxNode): boolean {
  if (
    enclosingFunction(statement) === null ||
    /^(for|if|.*switch)_(statement|clause)$/.test(statement.parent?.type ?? '')
  ) {
    return false;
  }
  if (statement.type !== 'expression_statement') return true;
  const [expression] = parts(statement);
  if (expression === undefined) return false;
  const callee = field(expression, 'function') ?? field(expression, 'object');
  const speaker = callee === null ? null : (field(callee, 'object') ?? field(callee, 'operand') ?? callee);
  // A constructor without its `super()` only crashes.
  if (ENDING.test(calledName(expression)?.text ?? '') || callee?.type === 'super') return false;
  if (speaker !== null && TALKING.test(speaker.text)) return false;
  if (source.language === 'java' && isTried(statement)) return false;
  // In Python the assignment of a plain name declares it.
  if (expression.type === 'assignment') return field(expression, 'left')?.type !== 'identifier';
  return EFFECTS.has(expression.type) && !isFirstValue(source, expression);
}

/** A statement with an effect taken out of a function. */
export const statementRemoval: BugOperator = {
  name: 'statement-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, ...STATEMENTS)
      .filter((node) => isRemovable(source, node))
      .map((node) => removeStatement(source, node, `${brief(node)} removed`));
  },
};

/** An `if` without `else`, in a function and not itself the `else` of another, that binds nothing for what follows. */
export function isGuard(node: SyntaxNode): boolean {
  const { parent } = node;
  const isElse = parent?.type === 'else_clause' || (parent !== null && field(parent, 'alternative')?.id === node.id);
  const condition = field(node, 'condition');
  const isPlain = condition !== null && !bindsNames(condition);
  // In Rust an `if` may be the value of something.
  const isStatement =
    node.type !== 'if_expression' || parent?.type === 'expression_statement' || (parent !== null && isBlock(parent));
  return isPlain && isStatement && field(node, 'alternative') === null && !isElse && enclosingFunction(node) !== null;
}

const EXITS = /^(return|throw|raise|break|continue)_(statement|expression)$/;

/** Does the `if` leave the function or the round of the loop at its end? */
function leaves(node: SyntaxNode): boolean {
  const body = field(node, 'consequence');
  const last = body === null ? undefined : isBlock(body) ? parts(body).at(-1) : body;
  if (last === undefined) return false;
  const end = last.type === 'expression_statement' ? (parts(last)[0] ?? last) : last;
  return EXITS.test(end.type) || calledName(end)?.text === 'panic';
}

function guards(source: ParsedSource, isWanted: (node: SyntaxNode) => boolean) {
  return nodesOf(source, ...IF_TYPES).flatMap((node) => {
    const condition = field(node, 'condition');
    if (condition === null || !isGuard(node) || isNullTest(condition) || isErrorTest(node) || !isWanted(node))
      return [];
    if (source.language === 'java' && isTried(node)) return [];
    return [removeStatement(source, statementOf(node), `if ${brief(condition)} removed`)];
  });
}

/** The check of an edge case that ends the function, the loop or its round. Null guards and error checks have their own operators. */
export const guardRemoval: BugOperator = {
  name: 'guard-removal',
  languages: ALL_LANGUAGES,
  sites: (source) => guards(source, leaves),
};

/** A condition removed together with what hangs on it. */
export const conditionRemoval: BugOperator = {
  name: 'condition-removal',
  languages: ALL_LANGUAGES,
  sites: (source) => guards(source, (node) => !leaves(node)),
};

const CASES = ['switch_case', 'switch_block_statement_group', 'expression_case', 'case_clause'];

function elseIfs(source: ParsedSource) {
  return nodesOf(source, ...IF_TYPES).flatMap((node) => {
    const { parent } = node;
    const condition = field(node, 'condition');
    if (parent === null || condition === null || bindsNames(condition)) return [];
    const clause = parent.type === 'else_clause' ? parent : node;
    const outer = clause.parent;
    if (outer === null || field(outer, 'alternative')?.id !== clause.id) return [];
    const next = field(node, 'alternative');
    const description = `else if ${brief(condition)} removed`;
    if (next !== null) return [{ start: clause.startIndex, end: clause.endIndex, replacement: next.text, description }];
    const consequence = field(outer, 'consequence');
    return consequence === null
      ? []
      : [{ start: consequence.endIndex, end: outer.endIndex, replacement: '', description }];
  });
}

/** From the line's start to the next line's, so that nothing is left of it. */
function lines(source: ParsedSource, node: SyntaxNode, description: string) {
  const start = source.text.lastIndexOf('\n', node.startIndex - 1) + 1;
  const newline = source.text.indexOf('\n', node.endIndex);
  const end = newline === -1 ? source.text.length : newline + 1;
  const isAlone =
    source.text.slice(start, node.startIndex).trim() + source.text.slice(node.endIndex, end).trim() === '';
  return isAlone ? [{ start, end, replacement: '', description }] : [];
}

/** One of several cases forgotten: an `else if`, or a case of a switch that has others. */
export const caseRemoval: BugOperator = {
  name: 'case-removal',
  languages: ALL_LANGUAGES,
  sites(source) {
    const clauses = nodesOf(source, 'elif_clause').flatMap((node) =>
      lines(source, node, `elif ${brief(field(node, 'condition') ?? node)} removed`),
    );
    const cases = nodesOf(source, ...CASES).flatMap((node) => {
      const siblings = node.parent === null ? [] : parts(node.parent).filter(({ type }) => CASES.includes(type));
      const isDefault = node.type === 'switch_block_statement_group' && parts(node)[0].text.startsWith('default');
      // One of several labels of the same code.
      const before = siblings[siblings.findIndex(({ id }) => id === node.id) - 1];
      const isShared = [node, before].some((one) => one !== undefined && parts(one).length < 2);
      if (siblings.length < 2 || isDefault || isShared || enclosingFunction(node) === null) return [];
      return lines(source, node, `${brief(node)} removed`);
    });
    return [...elseIfs(source), ...clauses, ...cases].sort(bySite);
  },
};
