import type { BugSite } from './operator.js';
import type { ParsedSource, SyntaxNode } from './parsing.js';

// The grammars of six languages name the same things differently, and hardly ever different things the same: where a
// set below holds several names, each belongs to one or more of the languages.

const FUNCTION_TYPES = new Set([
  'function_declaration',
  'function_expression',
  'generator_function',
  'generator_function_declaration',
  'arrow_function',
  'method_definition',
  'function_definition',
  'lambda',
  'method_declaration',
  'func_literal',
  'function_item',
  'closure_expression',
  'constructor_declaration',
  'compact_constructor_declaration',
  'lambda_expression',
]);
const LOOP_TYPES = new Set([
  'for_statement',
  'for_in_statement',
  'while_statement',
  'do_statement',
  'enhanced_for_statement',
  'for_expression',
  'while_expression',
  'loop_expression',
]);
const BLOCK_TYPES = new Set(['statement_block', 'block', 'constructor_body']);
const CASE_TYPES = new Set([
  'switch_case',
  'switch_default',
  'switch_block_statement_group',
  'expression_case',
  'default_case',
  'type_case',
  'communication_case',
]);
const TOP_TYPES = new Set(['program', 'module', 'source_file']);
const COMMENT_TYPES = new Set(['comment', 'line_comment', 'block_comment']);
const STRING_TYPES = new Set([
  'string',
  'template_string',
  'concatenated_string',
  'interpreted_string_literal',
  'raw_string_literal',
  'string_literal',
]);

export const IF_TYPES = ['if_statement', 'if_expression'] as const;
export const CALL_TYPES = ['call_expression', 'call', 'method_invocation'] as const;

export const isFunction = (node: SyntaxNode) => FUNCTION_TYPES.has(node.type);
export const isLoop = (node: SyntaxNode) => LOOP_TYPES.has(node.type);
export const isBlock = (node: SyntaxNode) => BLOCK_TYPES.has(node.type);
export const isText = (node: SyntaxNode) => STRING_TYPES.has(node.type);
/** Holds statements, any number of them. */
export const isStatementList = (node: SyntaxNode) =>
  isBlock(node) || CASE_TYPES.has(node.type) || TOP_TYPES.has(node.type);
const isComment = (node: SyntaxNode) => COMMENT_TYPES.has(node.type);

const found = new WeakMap<ParsedSource, Map<string, readonly SyntaxNode[]>>();

/** Descendants of the given types, in the order of the file, those inside a syntax error or Rust's test code left out. */
export function nodesOf(source: ParsedSource, ...types: string[]): readonly SyntaxNode[] {
  const known = found.get(source) ?? new Map<string, readonly SyntaxNode[]>();
  found.set(source, known);
  const key = types.join();
  const nodes = known.get(key) ?? findNodes(source, types);
  known.set(key, nodes);
  return nodes;
}

function findNodes(source: ParsedSource, types: string[]): readonly SyntaxNode[] {
  const nodes = source.root.descendantsOfType(types).filter((node) => node.isNamed && !node.hasError);
  const code = source.language === 'rust' ? nodes.filter(isOutsideOf(testCode(source.root))) : nodes;
  return source.root.hasError ? code.filter((node) => !ancestors(node).some((ancestor) => ancestor.isError)) : code;
}

/** Items of a Rust file that only tests are made of: what stands below `#[test]`, `#[cfg(test)]` and the like. */
function testCode(root: SyntaxNode): SyntaxNode[] {
  return root.descendantsOfType('attribute_item').flatMap((attribute) => {
    if (!/\btest\b/.test(attribute.text) || /\bnot\s*\(\s*test/.test(attribute.text)) return [];
    let item = attribute.nextNamedSibling;
    while (item !== null && (item.type === 'attribute_item' || isComment(item))) item = item.nextNamedSibling;
    return item === null ? [] : [item];
  });
}

const isOutsideOf = (areas: readonly SyntaxNode[]) => (node: SyntaxNode) =>
  areas.every(({ startIndex, endIndex }) => node.startIndex < startIndex || node.endIndex > endIndex);

const parents = new WeakMap<SyntaxNode, SyntaxNode | null>();

/** The node around a node, remembered: the binding looks for it from the root down each time. */
export function parentOf(node: SyntaxNode): SyntaxNode | null {
  const known = parents.get(node);
  const parent = known === undefined ? node.parent : known;
  parents.set(node, parent);
  return parent;
}

/** From the parent up to the root. */
export function ancestors(node: SyntaxNode): SyntaxNode[] {
  const chain: SyntaxNode[] = [];
  for (let above = parentOf(node); above !== null; above = parentOf(above)) chain.push(above);
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

/** Operand of a unary expression. */
export const operandOf = (node: SyntaxNode) =>
  field(node, 'argument') ?? field(node, 'operand') ?? parts(node).at(-1) ?? null;

/** `!x` or `not x`. */
export const isNegation = (node: SyntaxNode) =>
  node.type === 'not_operator' || (node.type === 'unary_expression' && node.children[0].type === '!');

/** The identifier that a call names: `f` in `f()`, `m` in `a.b.m()`. Null for calls of other expressions. */
export function calledName(call: SyntaxNode): SyntaxNode | null {
  const callee = call.type === 'method_invocation' ? field(call, 'name') : field(call, 'function');
  return callee === null ? null : lastName(callee);
}

function lastName(callee: SyntaxNode): SyntaxNode | null {
  if (callee.type === 'identifier') return callee;
  if (callee.type === 'generic_function') {
    const inner = field(callee, 'function');
    return inner === null ? null : lastName(inner);
  }
  // The field's name is `field` in Go and Rust.
  const name = ['property', 'attribute', 'name', 'field'].map((key) => field(callee, key)).find((one) => one !== null);
  return name ?? null;
}

export function replaceNode(node: SyntaxNode, replacement: string, description: string): BugSite {
  return { start: node.startIndex, end: node.endIndex, replacement, description };
}

/** The statement that an expression is by itself: Rust's `if` is an expression inside of a statement. */
export const statementOf = (node: SyntaxNode) => (node.parent?.type === 'expression_statement' ? node.parent : node);

/**
 * Takes a statement out: with its line where it stands alone there, and with something empty in its stead where the
 * grammar wants a statement.
 */
export function removeStatement(source: ParsedSource, node: SyntaxNode, description: string): BugSite {
  const { parent } = node;
  if (source.language === 'python') {
    const alone = parent === null || parts(parent).length === 1;
    if (alone) return replaceNode(node, 'pass', description);
  } else if (parent !== null && !isStatementList(parent)) {
    return replaceNode(node, '{}', description);
  }
  const { text } = source;
  const lineStart = text.lastIndexOf('\n', node.startIndex - 1) + 1;
  const newline = text.indexOf('\n', node.endIndex);
  const lineEnd = newline === -1 ? text.length : newline + 1;
  const around = text.slice(lineStart, node.startIndex) + text.slice(node.endIndex, lineEnd);
  if (around.trim() === '' && newline !== -1) return { start: lineStart, end: lineEnd, replacement: '', description };
  // Statements that share a line in Python and Go are parted by `;`, which has to go too.
  const isParted = source.language === 'python' || source.language === 'go';
  const separator = isParted ? /^[ \t]*;[ \t]*/.exec(text.slice(node.endIndex, lineEnd)) : null;
  return { start: node.startIndex, end: node.endIndex + (separator?.[0].length ?? 0), replacement: '', description };
}

/** Shortens a node's text for a description. */
export function brief(node: SyntaxNode): string {
  const line = node.text.replace(/\s+/g, ' ');
  return line.length > 40 ? `${line.slice(0, 39)}…` : line;
}
