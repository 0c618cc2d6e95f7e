import { calledName, CALL_TYPES, field, isText, operandOf, parts } from './nodes.js';
import type { Language, SyntaxNode } from './parsing.js';

export type TypeOf = (node: SyntaxNode) => string | null;

const NUMBER =
  /^(u?int(8|16|32|64|ptr)?|[iu](8|16|32|64|128|size)|f(32|64)|float(32|64)?|double|long|short|byte|rune|number|Integer|Long|Double|Float|Short|Byte|\{integer\}|\{float\})$/;
const TEXT = /^(string|str|String|&str|&'\w+ str|&String|CharSequence)$/;
const TRUTH = /^(bool|boolean|Boolean)$/;

export const isNumeric = (type: string | null) => type !== null && NUMBER.test(type);
export const isTextual = (type: string | null) => type !== null && TEXT.test(type);
export const isTruth = (type: string | null) => type !== null && TRUTH.test(type);

interface Names {
  readonly integer: string;
  readonly float: string;
  readonly text: string;
  readonly truth: string;
}

const ECMASCRIPT: Names = { integer: 'number', float: 'number', text: 'string', truth: 'boolean' };
const NAMES: Readonly<Record<Language, Names>> = {
  javascript: ECMASCRIPT,
  typescript: ECMASCRIPT,
  tsx: ECMASCRIPT,
  python: { integer: 'int', float: 'float', text: 'str', truth: 'bool' },
  go: { integer: 'int', float: 'float64', text: 'string', truth: 'bool' },
  // Rust infers a number's type from its use.
  rust: { integer: '{integer}', float: '{float}', text: '&str', truth: 'bool' },
  java: { integer: 'int', float: 'double', text: 'String', truth: 'boolean' },
};

const INTEGERS = new Set(['number', 'integer', 'int_literal', 'integer_literal', 'decimal_integer_literal']);
const FLOATS = new Set(['float', 'float_literal', 'decimal_floating_point_literal']);
const TRUTHS = new Set(['true', 'false', 'boolean_literal', 'comparison_operator', 'not_operator']);
const COMPARED = /^(===?|!==?|<=?|>=?|in|instanceof)$/;
const LOGIC = /^(&&|\|\||and|or)$/;
/** Functions whose results are lengths and places, in any of the languages. */
const COUNTS = /^(len|length|size|count|indexOf|lastIndexOf|Index|LastIndex|IndexByte|charCodeAt)$/;
const TESTS =
  /^(is_[a-z_]+|is[A-Z]\w*|has[A-Z]\w*|startsWith|endsWith|starts_with|ends_with|HasPrefix|HasSuffix|contains|contains_key|containsKey|Contains|includes|equals|startswith|endswith|isinstance)$/;
const TEXTS =
  /^(toString|to_string|trim|toLowerCase|toUpperCase|ToLower|ToUpper|TrimSpace|substring|Sprintf|String|format|join)$/;

/** The text of a declared type; null for types that are left to the compiler to find out. */
export function declaredType(node: SyntaxNode, language: Language): string | null {
  const text = node.text.replace(/^:\s*/, '').replace(/\s+/g, ' ');
  return text === 'any' || text === 'unknown' || (language === 'java' && text === 'var') ? null : text;
}

/** Type of an expression, where literals, names and well-known functions tell it; null where they do not. */
export function valueType(node: SyntaxNode, language: Language, nameType: TypeOf): string | null {
  const names = NAMES[language];
  const { type } = node;
  const inner = (child: SyntaxNode | null) => (child === null ? null : valueType(child, language, nameType));
  if (INTEGERS.has(type)) return /[a-z]\w*$/.exec(language === 'rust' ? node.text : '')?.[0] ?? names.integer;
  if (FLOATS.has(type)) return names.float;
  if (TRUTHS.has(type)) return names.truth;
  if (isText(node)) return names.text;
  if (type === 'identifier') return nameType(node);
  if (type === 'parenthesized_expression') return inner(parts(node)[0] ?? null);
  if (type === 'type_cast_expression' || type === 'cast_expression') {
    const cast = field(node, 'type');
    return cast === null ? null : declaredType(cast, language);
  }
  if (type === 'unary_expression' || type === 'unary_operator') {
    const token = node.children[0].type;
    if (token === '!') return language === 'rust' ? inner(operandOf(node)) : names.truth;
    return token === '-' || token === '~' ? inner(operandOf(node)) : null;
  }
  if (type === 'binary_expression' || type === 'binary_operator') return binaryType(node, names, inner);
  if (isLength(node)) return language === 'rust' ? 'usize' : names.integer;
  return (CALL_TYPES as readonly string[]).includes(type) ? callType(node, language) : null;
}

function binaryType(node: SyntaxNode, names: Names, inner: (child: SyntaxNode | null) => string | null): string | null {
  const token = field(node, 'operator')?.text ?? '';
  if (COMPARED.test(token)) return names.truth;
  const sides = [inner(field(node, 'left')), inner(field(node, 'right'))];
  if (LOGIC.test(token)) return sides[0] === sides[1] ? sides[0] : null;
  if (token === '+' && sides.some(isTextual)) return sides.find(isTextual) ?? null;
  return sides.find((side) => isNumeric(side)) ?? null;
}

const isLength = (node: SyntaxNode) =>
  (node.type === 'member_expression' && field(node, 'property')?.text === 'length') ||
  (node.type === 'field_access' && field(node, 'field')?.text === 'length');

function callType(node: SyntaxNode, language: Language): string | null {
  const called = calledName(node)?.text ?? '';
  const names = NAMES[language];
  // A conversion in Go looks like a call.
  if (language === 'go' && (isNumeric(called) || called === 'string')) return called;
  if (COUNTS.test(called)) return language === 'rust' ? (called === 'len' ? 'usize' : null) : names.integer;
  if (TESTS.test(called)) return names.truth;
  return TEXTS.test(called) && language !== 'rust' ? names.text : null;
}
