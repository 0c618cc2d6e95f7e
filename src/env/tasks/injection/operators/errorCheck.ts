import { lookUp } from '../bindings.js';
import { isReadOutside } from '../goUses.js';
import { brief, enclosingFunction, field, nodesOf, parts, removeStatement, replaceNode } from '../nodes.js';
import { bySite, ECMASCRIPT, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { testedError } from './errorTest.js';
import { isGuard } from './removal.js';

/** `if (err) …` or `if err != nil {…}` taken out, with what only it needed. */
function checks(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'if_statement').flatMap((node) => {
    const name = testedError(node) ?? (source.language === 'go' ? testedFlag(node) : null);
    if (name === null || !isGuard(node)) return [];
    const description = `check of ${name} removed`;
    if (source.language !== 'go') return [removeStatement(source, node, description)];
    const site = goSite(source, node, name, description);
    return site === null ? [] : [site];
  });
}

/** Go's `if !ok`. */
function testedFlag(node: SyntaxNode): string | null {
  const condition = field(node, 'condition');
  const operand = condition?.type === 'unary_expression' ? field(condition, 'operand') : null;
  return operand?.type === 'identifier' && /^(ok|found|exists)$/.test(operand.text) ? operand.text : null;
}

/** A variable that nothing else reads becomes `_` where it is declared. */
function goSite(source: ParsedSource, node: SyntaxNode, name: string, description: string): BugSite | null {
  const initializer = field(node, 'initializer');
  if (initializer !== null) {
    const right = field(initializer, 'right');
    const isCall = right !== null && parts(right).length === 1 && parts(right)[0].type === 'call_expression';
    const isAlone = field(initializer, 'left')?.text === name;
    return isCall && isAlone ? replaceNode(node, `_ = ${right.text}`, description) : null;
  }
  const condition = field(node, 'condition');
  const tested = condition?.descendantsOfType('identifier').find(({ text }) => text === name);
  if (tested === undefined) return null;
  const removed = removeStatement(source, node, description);
  if (isReadOutside(source, tested, { start: node.startIndex, end: node.endIndex })) return removed;
  const declaration = node.previousNamedSibling;
  const left = declaration?.type === 'short_var_declaration' ? field(declaration, 'left') : null;
  if (declaration === null || left === null || declaration === undefined) return null;
  const target = parts(left).find(({ text }) => text === name);
  if (target === undefined) return null;
  const others = parts(left).filter(({ text }) => text !== name && text !== '_');
  const isKnown = ({ text }: SyntaxNode) => lookUp(source, text, left) !== undefined;
  const token = others.every(isKnown) ? '=' : ':=';
  const kept = parts(left)
    .map(({ text }) => (text === name ? '_' : text))
    .join(', ');
  const replacement = `${kept} ${token} ${field(declaration, 'right')?.text ?? ''}`;
  return { start: declaration.startIndex, end: node.endIndex, replacement, description };
}

/** Rust's `f()?;` becomes `let _ = f();`. */
function questionMarks(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'expression_statement').flatMap((node) => {
    const [tried] = parts(node);
    const [value] = tried?.type === 'try_expression' ? parts(tried) : [];
    if (value === undefined || enclosingFunction(node) === null) return [];
    return [replaceNode(node, `let _ = ${value.text};`, `error of ${brief(value)} ignored`)];
  });
}

/** An error that is not looked at. */
export const errorCheckRemoval: BugOperator = {
  name: 'error-check-removal',
  languages: [...ECMASCRIPT, 'go', 'rust'],
  sites: (source) => [...checks(source), ...questionMarks(source)].sort(bySite),
};
