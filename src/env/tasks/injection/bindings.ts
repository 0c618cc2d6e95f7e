import { ancestors, field, isFunction, isLoop, isStatementList, nodesOf, parts } from './nodes.js';
import type { ParsedSource, SyntaxNode } from './parsing.js';
import { declaredType, valueType, type TypeOf } from './valueType.js';

/** A parameter or local variable, as far as the syntax tells. */
export interface Binding {
  readonly name: string;
  readonly role: 'parameter' | 'local';
  /** Where a use may stand, as UTF-16 indexes. */
  readonly visibleFrom: number;
  readonly visibleTo: number;
  /** Of the syntax node that it is declared for. */
  readonly scope: number;
  /** As declared, or what the first value shows; null where neither tells. */
  readonly type: string | null;
}

interface Declared {
  readonly name: SyntaxNode;
  readonly type: SyntaxNode | null;
  readonly value: SyntaxNode | null;
}

const PARAMETER_TYPES = [
  'required_parameter',
  'optional_parameter',
  'formal_parameters',
  'parameters',
  'lambda_parameters',
  'default_parameter',
  'typed_parameter',
  'typed_default_parameter',
  'parameter_declaration',
  'parameter',
  'closure_parameters',
  'formal_parameter',
  'inferred_parameters',
  'arrow_function',
  'lambda_expression',
  'catch_formal_parameter',
];
const LOCAL_TYPES = [
  'variable_declarator',
  'for_in_statement',
  'assignment',
  'for_statement',
  'short_var_declaration',
  'range_clause',
  'var_spec',
  'let_declaration',
  'for_expression',
  'enhanced_for_statement',
];

/** The bindings of a file, by name. */
type Bindings = ReadonlyMap<string, readonly Binding[]>;

const known = new WeakMap<ParsedSource, Bindings>();

/** All parameters and local variables of a file that are plain names; a local without a value is not among them. */
function bindingsOf(source: ParsedSource): Bindings {
  const bindings = known.get(source) ?? findBindings(source);
  known.set(source, bindings);
  return bindings;
}

function findBindings(source: ParsedSource): Bindings {
  const bindings = new Map<string, Binding[]>();
  const typeOf: TypeOf = (node) => typeAt(source, bindings, node);
  for (const node of nodesOf(source, ...PARAMETER_TYPES, ...LOCAL_TYPES)) {
    const role = LOCAL_TYPES.includes(node.type) ? 'local' : 'parameter';
    const scope = role === 'parameter' ? ownerOf(node) : enclosing(node);
    if (scope === null) continue;
    for (const { name, type, value } of role === 'parameter' ? parameters(node) : locals(node)) {
      if (name.type !== 'identifier' || name.text === '_') continue;
      const sameName = bindings.get(name.text) ?? [];
      sameName.push({
        name: name.text,
        role,
        visibleFrom: role === 'parameter' || isHead(node) ? name.endIndex : node.endIndex,
        visibleTo: scope.endIndex,
        scope: scope.id,
        type: type !== null ? declaredType(type, source.language) : value === null ? null : typeOf(value),
      });
      bindings.set(name.text, sameName);
    }
  }
  return bindings;
}

/** What a name stands for at a place: its innermost declaration there. Undefined for what is no parameter or local. */
export const lookUp = (source: ParsedSource, name: string, node: SyntaxNode) =>
  innermost(bindingsOf(source).get(name) ?? [], node.startIndex, node.endIndex);

/** Everything that is visible at a node, one binding for each name. */
export function visibleAt(source: ParsedSource, node: SyntaxNode): Binding[] {
  const { startIndex, endIndex } = node;
  return [...bindingsOf(source).values()].flatMap((bindings) => innermost(bindings, startIndex, endIndex) ?? []);
}

/** The declaration that a binding's scope first sees: a later one of the same name may only assign (Go, Python). */
export const firstInScope = (source: ParsedSource, binding: Binding) =>
  (bindingsOf(source).get(binding.name) ?? []).find(({ scope }) => scope === binding.scope) ?? binding;

function innermost(bindings: readonly Binding[], start: number, end: number): Binding | undefined {
  let found: Binding | undefined;
  for (const binding of bindings) {
    if (binding.visibleFrom > start || binding.visibleTo < end) continue;
    if (found === undefined || binding.visibleTo <= found.visibleTo) found = binding;
  }
  return found;
}

/** Type of an expression in a file, where literals, declarations and well-known functions tell it. */
export const typeIn = (source: ParsedSource, node: SyntaxNode) => typeAt(source, bindingsOf(source), node);

function typeAt(source: ParsedSource, bindings: Bindings, node: SyntaxNode): string | null {
  const nameType = (name: SyntaxNode) =>
    innermost(bindings.get(name.text) ?? [], name.startIndex, name.endIndex)?.type ?? null;
  return valueType(node, source.language, nameType);
}

const isScope = (node: SyntaxNode) =>
  isFunction(node) || isLoop(node) || isStatementList(node) || /^(if|.*switch|select)_statement$/.test(node.type);
/** Declares for the block that follows it. */
const isHead = (node: SyntaxNode) => isLoop(node) || node.type === 'range_clause';

/** The scope of a local; null for what is declared outside of functions. */
function enclosing(node: SyntaxNode): SyntaxNode | null {
  const scope = [node, ...ancestors(node)].find(isScope);
  return scope === undefined || (!isFunction(scope) && !ancestors(scope).some(isFunction)) ? null : scope;
}

/** The function or `catch` of a parameter; null where it only describes a type. */
function ownerOf(node: SyntaxNode): SyntaxNode | null {
  const owner = [node, ...ancestors(node)].find(({ type }) => !type.includes('parameter'));
  return owner !== undefined && (isFunction(owner) || owner.type === 'catch_clause') ? owner : null;
}

function parameters(node: SyntaxNode): Declared[] {
  const type = field(node, 'type');
  const value = field(node, 'value');
  switch (node.type) {
    case 'formal_parameters':
    case 'parameters':
    case 'lambda_parameters':
    case 'closure_parameters':
    case 'inferred_parameters':
      return parts(node).flatMap((name) =>
        name.type === 'assignment_pattern'
          ? plain(field(name, 'left'), null, field(name, 'right'))
          : plain(name, null, null),
      );
    case 'arrow_function':
      return plain(field(node, 'parameter'), null, null);
    case 'lambda_expression':
      return plain(field(node, 'parameters'), null, null);
    case 'parameter_declaration':
      return node.childrenForFieldName('name').flatMap((name) => plain(name, type, null));
    case 'typed_parameter':
      return plain(parts(node)[0], type, null);
    default:
      return plain(field(node, 'name') ?? field(node, 'pattern'), type, value);
  }
}

function locals(node: SyntaxNode): Declared[] {
  const type = field(node, 'type');
  switch (node.type) {
    case 'variable_declarator': {
      const value = field(node, 'value');
      // In Java the type stands before all declarators.
      return value === null ? [] : plain(field(node, 'name'), type ?? field(node.parent ?? node, 'type'), value);
    }
    case 'let_declaration': {
      const value = field(node, 'value');
      return value === null ? [] : plain(field(node, 'pattern'), type, value);
    }
    case 'var_spec': {
      const names = node.childrenForFieldName('name').filter(({ isNamed }) => isNamed);
      return pair(names, listed(field(node, 'value')), type);
    }
    case 'short_var_declaration':
      return pair(listed(field(node, 'left')), listed(field(node, 'right')), null);
    case 'assignment':
      return plain(field(node, 'left'), type, field(node, 'right'));
    case 'enhanced_for_statement':
      return plain(field(node, 'name'), type, null);
    default:
      return listed(field(node, 'left') ?? field(node, 'pattern')).flatMap((name) => plain(name, null, null));
  }
}

const plain = (name: SyntaxNode | null, type: SyntaxNode | null, value: SyntaxNode | null): Declared[] =>
  name === null ? [] : [{ name, type, value }];

const listed = (node: SyntaxNode | null): SyntaxNode[] =>
  node === null ? [] : /list|tuple/.test(node.type) ? parts(node) : [node];

function pair(names: readonly SyntaxNode[], values: readonly SyntaxNode[], type: SyntaxNode | null): Declared[] {
  return names.map((name, index) => ({ name, type, value: names.length === values.length ? values[index] : null }));
}
