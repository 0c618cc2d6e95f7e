import type { BugSite } from './operator.js';
import type { ParsedSource, SyntaxNode } from './parsing.js';

const FUNCTION_TYPES = new Set([
  'function_declaration',
  'function_expression',
  'generator_function',
  'generator_function_declaration',
  'arrow_function',
  'method_definition',
  'function_definition',
  'lambda',
]);
const LOOP_TYPES = new Set(['for_statement', 'for_in_statement', 'while_statement', 'do_statement']);
const BLOCK_TYPES = new Set(['statement_block', 'block']);

export const isFunction = (node: SyntaxNode) => FUNCTION_TYPES.has(node.type);
export const isLoop = (node: SyntaxNode) => LOOP_TYPES.has(node.type);
export const isBlock = (node: SyntaxNode) => BLOCK_TYPES.has(node.type);
const isComment = (node: SyntaxNode) => node.type === 'comment';

/** Descendants of the given types, in the order of the file, those inside a syntax error left out. */
export function nodesOf(source: ParsedSource, ...types: string[]): SyntaxNode[] {
  const nodes = source.root.descendantsOfType(types).filter((node) => node.isNamed && !node.hasError);
  return source.root.hasError ? nodes.filter((node) => !ancestors(node).some((ancestor) => ancestor.isError)) : nodes;
}

/** From the parent up to the root. */
export function ancestors(node: SyntaxNode): SyntaxNode[] {
  const chain: SyntaxNode[] = [];
  for (let above = node.parent; above !== null; above = above.parent) chain.push(above);
  return chain;
}

/** The innermost function around a node; null at the top level. */
export const enclosingFunction = (node: SyntaxNode) => ancestors(node).find(isFunction) ?? null;

/** The innermost loop around a node within its own function. */
export function enclosingLoop(node: SyntaxNode): SyntaxNode | null {
  const inner = ancestors(node).find((ancestor) => isFunction(ancestor) || isLoop(ancestor));
  return inner !== undefined && isLoop(inner) ? inner : null;
}

/** Named children without comments. */
export const parts = (node: SyntaxNode) => node.namedChildren.filter((child) => !isComment(child));

export const field = (node: SyntaxNode, name: string) => node.childForFieldName(name);

/** Drops the parentheses around an expression. */
export function unwrap(node: SyntaxNode): SyntaxNode {
  const inner = node.type === 'parenthesized_expression' ? parts(node)[0] : undefined;
  return inner === undefined ? node : unwrap(inner);
}

export function replaceNode(node: SyntaxNode, replacement: string, description: string): BugSite {
  return { start: node.startIndex, end: node.endIndex, replacement, description };
}

/**
 * Takes a statement out: with its line where it stands alone there, and with something empty in its stead where the
 * grammar wants a statement.
 */
export function removeStatement(source: ParsedSource, node: SyntaxNode, description: string): BugSite {
  const { parent } = node;
  if (source.language === 'python') {
    const alone = parent === null || parts(parent).length === 1;
    if (alone) return replaceNode(node, 'pass', description);
  } else if (parent !== null && !isBlock(parent) && parent.type !== 'program' && !parent.type.startsWith('switch_')) {
    return replaceNode(node, '{}', description);
  }
  const { text } = source;
  const lineStart = text.lastIndexOf('\n', node.startIndex - 1) + 1;
  const newline = text.indexOf('\n', node.endIndex);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  const around = text.slice(lineStart, node.startIndex) + text.slice(node.endIndex, lineEnd);
  if (around.trim() === '' && newline !== -1) return { start: lineStart, end: lineEnd, replacement: '', description };
  // Statements that share a line in Python are parted by `;`, which has to go too.
  const separator = source.language === 'python' ? /^[ \t]*;[ \t]*/.exec(text.slice(node.endIndex, lineEnd)) : null;
  return { start: node.startIndex, end: node.endIndex + (separator?.[0].length ?? 0), replacement: '', description };
}

/** Shortens a node's text for a description. */
export function brief(node: SyntaxNode): string {
  const line = node.text.replace(/\s+/g, ' ');
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
