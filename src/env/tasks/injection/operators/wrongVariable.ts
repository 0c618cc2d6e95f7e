import { lookUp, visibleAt, type Binding } from '../bindings.js';
import { enclosingFunction, field, nodesOf, parentOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, isCompiled, type BugOperator } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { isNumeric, isTruth } from '../valueType.js';

/** Names that hold a function, an error or the object itself: nobody takes them for a value. */
const SPECIAL =
  /^(self|cls|this|cb|callback|fn|func|next|done|resolve|reject|err|error|e|ctx|_.*|.*(Fn|Callback|Func))$/;
/** What reads a value: operands, arguments, indexes, returned and assigned values. */
const READING =
  /^(arguments|argument_list|binary_expression|binary_operator|comparison_operator|boolean_operator|return_statement|return_expression|expression_list|variable_declarator|let_declaration|subscript|subscript_expression|index_expression|array_access|slice_expression|range_expression|slice|assignment|assignment_expression|assignment_statement|augmented_assignment|augmented_assignment_expression|compound_assignment_expr|unary_expression|unary_operator)$/;

/** A place where a variable is read and nothing is done with it but taking its value. */
function isRead(node: SyntaxNode): boolean {
  const parent = parentOf(node);
  if (parent === null || !READING.test(parent.type)) return false;
  const holder = parent.type === 'expression_list' ? parentOf(parent) : parent;
  if (holder === null || holder.type === 'range_clause') return false;
  const targets = ['left', 'name', 'pattern'].map((name) => field(holder, name));
  const isAssigning = /assignment|declarat/.test(holder.type);
  const isTarget = isAssigning && targets.some((target) => target !== null && holds(target, node));
  const container = ['object', 'operand', 'array', 'value'].map((name) => field(parent, name));
  const isContainer =
    /^(subscript|subscript_expression|index_expression|array_access|slice_expression)$/.test(parent.type) &&
    (container.some((one) => one?.id === node.id) ||
      (parent.type === 'index_expression' && parts(parent)[0].id === node.id));
  return !isTarget && !isContainer;
}

const holds = (outer: SyntaxNode, inner: SyntaxNode) =>
  outer.startIndex <= inner.startIndex && inner.endIndex <= outer.endIndex;

function isSameKind(source: ParsedSource, one: Binding, other: Binding): boolean {
  if (one.name === other.name || SPECIAL.test(other.name) || one.type !== other.type) return false;
  if (source.language === 'rust') {
    // Others are moved by their use.
    const { type } = one;
    return type !== null && !type.includes('{') && (isNumeric(type) || isTruth(type) || /^&(?!.*mut )/.test(type));
  }
  if (one.type !== null) return true;
  return !isCompiled(source) && one.role === other.role && one.visibleTo === other.visibleTo;
}

/** Length of what two names have in common at their ends: `startIndex` and `endIndex` are easily confused. */
function likeness(one: string, other: string): number {
  const common = (a: string, b: string) => {
    let length = 0;
    while (length < a.length && a[length] === b[length]) length++;
    return length;
  };
  const reverse = (name: string) => [...name].reverse().join('');
  return common(one, other) + common(reverse(one), reverse(other));
}

/** Names of the variables that one may be mistaken for, the likest first. */
function confusable(source: ParsedSource, node: SyntaxNode, own: Binding | undefined): readonly string[] {
  if (own === undefined || SPECIAL.test(own.name)) return [];
  const inside = enclosingFunction(node);
  const around = node.parent === null ? [] : parts(node.parent).filter(({ id }) => id !== node.id);
  const siblings = around.map(({ text }) => text);
  const others = visibleAt(source, node).filter(
    (other) =>
      isSameKind(source, own, other) &&
      !siblings.includes(other.name) &&
      // A lambda takes no variable that changes.
      (source.language !== 'java' || inside?.type !== 'lambda_expression' || other.visibleFrom > inside.startIndex),
  );
  others.sort((a, b) => likeness(own.name, b.name) - likeness(own.name, a.name) || b.visibleFrom - a.visibleFrom);
  return others.map(({ name }) => name);
}

/** Another parameter or local variable of the same type read instead. */
export const wrongVariable: BugOperator = {
  name: 'wrong-variable',
  languages: ALL_LANGUAGES,
  sites(source) {
    return nodesOf(source, 'identifier').flatMap((node) => {
      const others = isRead(node) ? confusable(source, node, lookUp(source, node.text, node)) : [];
      return others.slice(0, 1).map((other) => replaceNode(node, other, `${node.text} becomes ${other}`));
    });
  },
};

/** Undoes `wrong-variable`: the variables that this one would be mistaken for. */
export const variableRepair: BugOperator = {
  ...wrongVariable,
  sites(source) {
    return nodesOf(source, 'identifier').flatMap((node) => {
      if (!isRead(node)) return [];
      const others = confusable(source, node, lookUp(source, node.text, node)).filter(
        (other) => confusable(source, node, lookUp(source, other, node))[0] === node.text,
      );
      return others.map((other) => replaceNode(node, other, `${node.text} becomes ${other}`));
    });
  },
};
