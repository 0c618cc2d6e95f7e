import { ancestors, calledName, field, isLoop, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';

const LITERALS = [
  'number',
  'integer',
  'float',
  'true',
  'false',
  'int_literal',
  'float_literal',
  'integer_literal',
  'boolean_literal',
  'decimal_integer_literal',
  'decimal_floating_point_literal',
];
const TRUTH: Readonly<Record<string, string>> = { true: 'false', false: 'true', True: 'False', False: 'True' };
/**
 * In a type a literal changes nothing at run time or breaks the compilation, as a second label of the same value does;
 * places in sequences and bounds of loops belong to other operators.
 */
const ELSEWHERE = new Set([
  'literal_type',
  'subscript_expression',
  'subscript',
  'slice',
  'index_expression',
  'slice_expression',
  'array_access',
  'range_expression',
  'token_tree',
  'array_type',
  'type_arguments',
  'enum_variant',
  'field_expression',
  'switch_label',
  'expression_case',
  'match_pattern',
  'attribute_item',
  'const_spec',
  'element_value_pair',
  'annotation_argument_list',
]);

function changed(node: SyntaxNode): string | null {
  if (Object.hasOwn(TRUTH, node.text)) return TRUTH[node.text];
  const [, whole, suffix] = /^(0|[1-9]\d*)([iuL]\w*)?$/.exec(node.text) ?? [];
  if (whole !== undefined) {
    const value = Number(whole);
    // A number that fills its type has to become smaller.
    const moved = value > 100 ? value - 1 : value + 1;
    return Number.isSafeInteger(value) ? String(moved) + (suffix ?? '') : null;
  }
  const [, decimals] = /^\d+\.(\d+)$/.exec(node.text) ?? [];
  return decimals === undefined ? null : (Number(node.text) + 1).toFixed(decimals.length);
}

function isElsewhere(node: SyntaxNode): boolean {
  const around = ancestors(node).slice(0, 4);
  const isBound = around.some((above) => {
    const head = isLoop(above) || above.type === 'for_clause' ? above : null;
    const initial = head === null ? null : (field(head, 'initializer') ?? field(head, 'init'));
    const endless = head === null ? null : field(head, 'condition');
    return [initial, node.text in TRUTH ? endless : null].some(
      (part) => part !== null && part.startIndex <= node.startIndex && part.endIndex >= node.endIndex,
    );
  });
  const call = around[1];
  const isRange = call?.type === 'call' && calledName(call)?.text === 'range';
  return isBound || isRange || around.slice(0, 2).some((above) => ELSEWHERE.has(above.type));
}

function literalSites(source: ParsedSource, other: (node: SyntaxNode) => string | null): BugSite[] {
  return nodesOf(source, ...LITERALS).flatMap((node) => {
    const replacement = isElsewhere(node) ? null : other(node);
    return replacement === null ? [] : [replaceNode(node, replacement, `${node.text} becomes ${replacement}`)];
  });
}

/** A number off by one, `true` for `false`. */
export const constantChange: BugOperator = {
  name: 'constant-change',
  languages: ALL_LANGUAGES,
  sites: (source) => literalSites(source, changed),
};

/** The literal that `changed` makes this one of; null where there is none. */
function changedBack(node: SyntaxNode): string | null {
  if (Object.hasOwn(TRUTH, node.text)) return TRUTH[node.text];
  const [, whole, suffix] = /^(0|[1-9]\d*)([iuL]\w*)?$/.exec(node.text) ?? [];
  if (whole !== undefined) {
    const value = Number(whole);
    const moved = value > 99 ? value + 1 : value - 1;
    return moved >= 0 && Number.isSafeInteger(moved) ? String(moved) + (suffix ?? '') : null;
  }
  const [, decimals] = /^\d+\.(\d+)$/.exec(node.text) ?? [];
  return decimals === undefined || Number(node.text) < 1 ? null : (Number(node.text) - 1).toFixed(decimals.length);
}

/** Undoes `constant-change`. */
export const constantRepair: BugOperator = { ...constantChange, sites: (source) => literalSites(source, changedBack) };
