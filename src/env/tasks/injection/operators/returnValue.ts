import { typeIn } from '../bindings.js';
import { ancestors, brief, enclosingFunction, field, isBlock, nodesOf, parts, replaceNode, unwrap } from '../nodes.js';
import { ALL_LANGUAGES, bySite, isCompiled, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { isNumeric, isTextual, isTruth } from '../valueType.js';
import { negated } from './condition.js';

const NOTHING = new Set(['null', 'undefined', 'none', 'nil', 'null_literal']);
const LITERAL_TRUTH = new Set(['true', 'false', 'boolean_literal']);
const TRUTH_TYPES = new Set(['comparison_operator', 'boolean_operator', 'not_operator']);
const TRUTH_TOKENS = new Set(['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof']);

const change = (value: SyntaxNode, replacement: string) =>
  replaceNode(value, replacement, `returned value ${brief(value)} changed`);

const isTruthValue = (node: SyntaxNode) =>
  TRUTH_TYPES.has(node.type) ||
  (node.type === 'binary_expression' && TRUTH_TOKENS.has(field(node, 'operator')?.text ?? '')) ||
  (node.type === 'unary_expression' && field(node, 'operator')?.text === '!');

/** What a function gives back: a return statement's value, or the body of an arrow or lambda written as an expression. */
function returned(node: SyntaxNode): SyntaxNode | null {
  if (node.type === 'return_statement') return parts(node)[0] ?? null;
  const body = field(node, 'body');
  return body === null || isBlock(body) ? null : body;
}

/** A truth value negated, a call whose result is not returned, any other value gone. */
function dynamicSites(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'return_statement', 'arrow_function', 'lambda').flatMap((node) => {
    const value = returned(node);
    if (value === null) return [];
    const inner = unwrap(value);
    if (NOTHING.has(inner.type) || LITERAL_TRUTH.has(inner.type)) return [];
    if (isTruthValue(inner)) {
      const opposite = negated(source, inner);
      return opposite === null ? [] : [change(inner, opposite)];
    }
    const isStatement = node.type === 'return_statement' && node.parent !== null && isBlock(node.parent);
    if (isStatement && /^(call_expression|call)$/.test(value.type) && /^[\w$]/.test(value.text)) {
      return [{ ...change(value, ''), start: node.startIndex, end: value.startIndex }];
    }
    return [change(inner, source.language === 'python' ? 'None' : 'null')];
  });
}

/** Declared types of what a function gives back, one for each value of a `return`. */
function resultTypes(node: SyntaxNode): string[] {
  const result = field(node, 'result') ?? field(node, 'return_type') ?? field(node, 'type');
  if (result === null) return [];
  if (result.type !== 'parameter_list') return [result.text];
  return parts(result).flatMap((one) => {
    const names = one.childrenForFieldName('name').filter(({ isNamed }) => isNamed);
    return Array<string>(Math.max(1, names.length)).fill(field(one, 'type')?.text ?? '');
  });
}

/** Another value of a type, as source; null where it is the same or none is known. */
function otherValue(source: ParsedSource, value: SyntaxNode, type: string): string | null {
  const other = typedValue(source, value, type);
  return other === value.text ? null : other;
}

function typedValue(source: ParsedSource, value: SyntaxNode, type: string): string | null {
  if (NOTHING.has(value.type) || LITERAL_TRUTH.has(value.type)) return null;
  const isPrimitive = !/^[A-Z]/.test(type);
  if (isTruth(type) && (isPrimitive || isTruthValue(value))) return negated(source, unwrap(value));
  if (isNumeric(type) && isPrimitive) return /^[\d.]+\w*$/.test(value.text) ? null : zero(source, type);
  switch (source.language) {
    case 'go':
      if (type === 'error') return value.type === 'identifier' ? 'nil' : null;
      if (isTextual(type)) return '""';
      return /^(\*|\[\]|map\[|func\(|chan )/.test(type) ? 'nil' : null;
    case 'rust':
      if (type.startsWith('Option<')) return 'None';
      if (type.startsWith('Vec<')) return 'Vec::new()';
      return type === 'String' ? 'String::new()' : /^&('static )?str$/.test(type) ? '""' : null;
    default:
      return /^(char|void)$/.test(type) ? null : 'null';
  }
}

const zero = ({ language }: ParsedSource, type: string) => (language === 'rust' && /^f\d/.test(type) ? '0.0' : '0');

/** The values that a function of a compiled language gives back; in Rust the last expression of its body is one. */
function returnedValues(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'function_item') {
    const body = field(node, 'body');
    const last = body === null ? undefined : parts(body).at(-1);
    return last === undefined ||
      /_(statement|declaration|item|invocation)$|^(if|match|for|while|loop|unsafe|return)_|^block$/.test(last.type)
      ? []
      : [last];
  }
  const [value] = parts(node);
  if (value === undefined) return [];
  return value.type === 'expression_list' ? parts(value) : [value];
}

function typedSites(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'return_statement', 'return_expression', 'function_item').flatMap((node) => {
    const owner = node.type === 'function_item' ? node : enclosingFunction(node);
    // What a lambda gives back has no declared type.
    if (owner === null || /^(lambda|closure)_/.test(owner.type) || isInAsyncBlock(node)) return [];
    const types = resultTypes(owner);
    const values = returnedValues(node);
    if (types.length !== values.length) return [];
    return values.flatMap((value, index) => {
      const known = typeIn(source, value);
      const other = otherValue(source, value, known !== null && isTruth(known) ? known : types[index]);
      return other === null ? [] : [change(value, other)];
    });
  });
}

const isInAsyncBlock = (node: SyntaxNode) => ancestors(node).some(({ type }) => type === 'async_block');

/** Another value returned. Literal truth values are `constant-change`'s, comparisons for equality `comparison-flip`'s. */
export const returnValue: BugOperator = {
  name: 'return-value',
  languages: ALL_LANGUAGES,
  sites: (source) => (isCompiled(source) ? typedSites(source) : dynamicSites(source)).sort(bySite),
};

/** Undoes `return-value` where the code shows how: a truth value negated, and a call at a function's end returned. */
export const returnRepair: BugOperator = {
  ...returnValue,
  sites(source) {
    const truths = returnValue.sites(source).filter(({ start, end }) => {
      const value = source.root.descendantForIndex(start, end - 1);
      return isTruthValue(value) && value.startIndex === start && value.endIndex === end;
    });
    const calls = nodesOf(source, 'expression_statement').flatMap((node) => {
      const [call] = parts(node);
      const list = node.parent;
      if (isCompiled(source) || list === null || !isBlock(list) || parts(list).at(-1)?.id !== node.id) return [];
      if (enclosingFunction(node) === null || !/^(call_expression|call)$/.test(call?.type ?? '')) return [];
      return [
        {
          ...change(call, 'return '),
          start: node.startIndex,
          end: node.startIndex,
          description: `${brief(call)} returned`,
        },
      ];
    });
    return [...truths, ...calls].sort(bySite);
  },
};
