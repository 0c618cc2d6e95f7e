import { field, nodesOf, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator } from '../operator.js';
import type { SyntaxNode } from '../parsing.js';

const pairs = (...names: readonly (readonly [string, string])[]) =>
  Object.fromEntries(names.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]));

/** Functions that are easily taken for one another. */
const SIBLINGS: Readonly<Record<string, string>> = pairs(
  ['min', 'max'],
  ['floor', 'ceil'],
  ['push', 'unshift'],
  ['pop', 'shift'],
  ['some', 'every'],
  ['any', 'all'],
  ['indexOf', 'lastIndexOf'],
  ['find', 'rfind'],
  ['startsWith', 'endsWith'],
  ['startswith', 'endswith'],
  ['toLowerCase', 'toUpperCase'],
  ['lower', 'upper'],
  ['trimStart', 'trimEnd'],
  ['lstrip', 'rstrip'],
  ['padStart', 'padEnd'],
  ['ljust', 'rjust'],
);
/** Names that only one of the two languages has. */
const PYTHON_ONLY = new Set(['find', 'rfind', 'any', 'all', 'lower', 'upper']);
const ECMASCRIPT_ONLY = new Set(['push', 'unshift', 'pop', 'shift', 'some', 'every']);

function calledName(call: SyntaxNode): SyntaxNode | null {
  const callee = field(call, 'function');
  if (callee === null) return null;
  return callee.type === 'identifier' ? callee : (field(callee, 'property') ?? field(callee, 'attribute'));
}

/** A sibling called instead: `min` for `max`, `push` for `unshift`. */
export const callSwap: BugOperator = {
  name: 'call-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const foreign = source.language === 'python' ? ECMASCRIPT_ONLY : PYTHON_ONLY;
    return nodesOf(source, 'call_expression', 'call').flatMap((call) => {
      const name = calledName(call);
      if (name === null || !Object.hasOwn(SIBLINGS, name.text) || foreign.has(name.text)) return [];
      const sibling = SIBLINGS[name.text];
      return [replaceNode(name, sibling, `${name.text} becomes ${sibling}`)];
    });
  },
};
