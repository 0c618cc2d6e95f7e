import { nodesOf } from './nodes.js';
import { applySite, bySite, lineOf, type BugOperator, type BugSite } from './operator.js';
import { argumentSwap } from './operators/argumentSwap.js';
import { arithmeticRepair, operandSwap } from './operators/arithmetic.js';
import { assignmentRepair } from './operators/assignment.js';
import { branchSwap } from './operators/branchSwap.js';
import { callSwap } from './operators/callSwap.js';
import { boundary, comparisonFlip } from './operators/comparison.js';
import { constantRepair } from './operators/constantChange.js';
import { exceptionRepair } from './operators/exceptionSwap.js';
import { indexRepair } from './operators/indexChange.js';
import { logicSwap, negation } from './operators/logic.js';
import { loopBoundRepair } from './operators/loopBound.js';
import { earlyReturnRepair, loopControlSwap } from './operators/loops.js';
import { returnRepair } from './operators/returnValue.js';
import { stringRepair } from './operators/stringChange.js';
import { variableRepair } from './operators/wrongVariable.js';
import type { ParsedSource, SyntaxNode } from './parsing.js';

/**
 * What undoes the bugs of the operators, as far as the code shows how: most are their own inverses. What an operator takes
 * away (a statement, a guard, a clause) no code shows.
 */
const REPAIRS: readonly BugOperator[] = [
  comparisonFlip,
  boundary,
  arithmeticRepair,
  assignmentRepair,
  negation,
  logicSwap,
  constantRepair,
  stringRepair,
  operandSwap,
  argumentSwap,
  variableRepair,
  callSwap,
  indexRepair,
  loopBoundRepair,
  loopControlSwap,
  earlyReturnRepair,
  returnRepair,
  branchSwap,
  exceptionRepair,
];

/** A small change of a source that may mend a bug in it. */
export interface SmallChange {
  readonly site: BugSite;
  /** Counted from 1. */
  readonly line: number;
}

/** Every small change of a source, in the order of the file; of those that give the same text, one. */
export function smallChanges(source: ParsedSource): readonly SmallChange[] {
  const sites = REPAIRS.filter(({ languages }) => languages.includes(source.language)).flatMap((repair) =>
    repair.sites(source),
  );
  const distinct = new Map(sites.map((site) => [`${site.start} ${site.end} ${site.replacement}`, site]));
  return [...distinct.values()]
    .filter((site) => applySite(source.text, site) !== source.text)
    .sort((a, b) => bySite(a, b) || a.end - b.end)
    .map((site) => ({ site, line: lineOf(source.text, site) }));
}

/** A function or method with a name, and the node that is its whole definition. */
export interface NamedFunction {
  readonly name: string;
  readonly node: SyntaxNode;
}

const DEFINITIONS = [
  'function_declaration',
  'generator_function_declaration',
  'function_expression',
  'method_definition',
  'function_definition',
  'method_declaration',
  'constructor_declaration',
  'function_item',
];
/** What gives its name to a function without one: a variable, a field, a key, an assignment. */
const NAMING: Readonly<Record<string, string>> = {
  variable_declarator: 'name',
  field_definition: 'property',
  public_field_definition: 'name',
  pair: 'key',
  assignment_expression: 'left',
};
const VALUES = /^(arrow_function|function_expression|generator_function)$/;

/** The functions of a file that have a name, in the order of the file, those within others too. */
export function namedFunctions(source: ParsedSource): readonly NamedFunction[] {
  return nodesOf(source, ...DEFINITIONS, ...Object.keys(NAMING))
    .flatMap((node): NamedFunction[] => {
      const key = Object.hasOwn(NAMING, node.type) ? NAMING[node.type] : 'name';
      const value = node.childForFieldName('value') ?? node.childForFieldName('right');
      if (key !== 'name' || node.type === 'variable_declarator') {
        if (value === null || !VALUES.test(value.type)) return [];
      }
      const name = /[\w$]+(?=\W*$)/.exec(node.childForFieldName(key)?.text ?? '')?.[0];
      return name === undefined ? [] : [{ name, node }];
    })
    .sort((a, b) => a.node.startIndex - b.node.startIndex);
}
