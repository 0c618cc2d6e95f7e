import { field, isNegation, parts } from '../nodes.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { operatorTokens } from './operatorToken.js';

const OPPOSITE: Readonly<Record<string, string>> = { '<': '>=', '>=': '<', '>': '<=', '<=': '>' };
const EQUALITY = new Set(['==', '!=', '===', '!==', 'in', 'not in', 'is', 'is not']);
/** Bind tighter than a negation. */
const TIGHT =
  /^(identifier|call|call_expression|method_invocation|member_expression|attribute|subscript|subscript_expression|selector_expression|index_expression|field_expression|field_access|array_access|parenthesized_expression|this|self)$/;

/** The condition of an `if` or of a conditional expression. In Python's expression it is the middle part of three. */
export function conditionOf(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'conditional_expression') return parts(node)[1] ?? null;
  return field(node, 'condition');
}

/** Does the condition bind names (Rust's `if let`, Java's `instanceof` with a name), so that the code after it needs it? */
export const bindsNames = (condition: SyntaxNode) =>
  /^let_/.test(condition.type) ||
  condition
    .descendantsOfType(['let_condition', 'instanceof_expression'])
    .some((node) => node.type === 'let_condition' || field(node, 'name') !== null || field(node, 'pattern') !== null);

/** The opposite of a condition, as a person would write it; null where it is negated or an equality already. */
export function negated(source: ParsedSource, condition: SyntaxNode): string | null {
  if (isNegation(condition) || bindsNames(condition)) return null;
  const tokens = operatorTokens(condition);
  if (tokens.some((token) => EQUALITY.has(token.text))) return null;
  if (tokens.length === 1 && Object.hasOwn(OPPOSITE, tokens[0].text)) {
    const [token] = tokens;
    const { text, startIndex } = condition;
    return (
      text.slice(0, token.startIndex - startIndex) + OPPOSITE[token.text] + text.slice(token.endIndex - startIndex)
    );
  }
  const operand = TIGHT.test(condition.type) ? condition.text : `(${condition.text})`;
  return source.language === 'python' ? `not ${operand}` : `!${operand}`;
}
