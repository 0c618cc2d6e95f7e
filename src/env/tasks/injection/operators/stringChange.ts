import { calledName, field, nodesOf, parentOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';

const TEXTS = ['string', 'template_string', 'interpreted_string_literal', 'string_literal'];
const CHARACTERS = ['rune_literal', 'char_literal', 'character_literal'];
/** Separators and the like that are easily mistaken for one another; as they are written in source. */
const MISTAKEN: Readonly<Record<string, string>> = {
  ',': ';',
  ';': ',',
  ':': ';',
  '.': ',',
  '-': '_',
  _: '-',
  '=': ':',
  '&': '?',
  '?': '&',
  '#': '@',
  '@': '#',
  '<': '>',
  '>': '<',
  '(': '[',
  ')': ']',
  '[': '{',
  ']': '}',
  '{': '[',
  '}': ']',
  '+': '-',
  '*': '+',
  '0': '1',
  '1': '0',
  a: 'A',
  z: 'Z',
  A: 'a',
  Z: 'z',
  '9': '8',
};
const MISTAKEN_TEXTS: Readonly<Record<string, string>> = {
  ...MISTAKEN,
  '': ' ',
  ' ': '',
  '/': '//',
  '\\n': ' ',
  '\\r\\n': '\\n',
  '\\t': ' ',
  ', ': ',',
  ': ': ':',
  '; ': ';',
  ' = ': '=',
  '--': '-',
  '//': '/',
  '::': ':',
  '..': '.',
  './': '../',
  '../': './',
  '==': '=',
  '**': '*',
};
/** Texts that are compared with, asked for or looked up have to be right to the letter. */
const COMPARING =
  /^(binary_expression|comparison_operator|switch_case|switch_label|expression_case|match_pattern|subscript|subscript_expression)$/;
const ASKING =
  /^(startsWith|endsWith|starts_with|ends_with|HasPrefix|HasSuffix|startswith|endswith|includes|contains|Contains|indexOf|get|has|equals)$/;
/** Names of modules, types and annotations. */
const NAMING = /^(import_|export_|literal_type|type$|type_|attribute_item|token_tree|annotation|decorator|jsx_)/;

/** Upper for lower case or back, in the first letter. */
function recased(word: string): string {
  const first = word[0];
  const other = first === first.toUpperCase() ? first.toLowerCase() : first.toUpperCase();
  return /^[A-Z][A-Z0-9_-]+$/.test(word) ? word.toLowerCase() : other + word.slice(1);
}

function isCompared(node: SyntaxNode): boolean {
  const parent = parentOf(node);
  if (parent === null) return false;
  if (COMPARING.test(parent.type)) return !parts(parent).some((part) => part.text.startsWith('typeof '));
  const call = parentOf(parent);
  return /^argument(s|_list)$/.test(parent.type) && call !== null && ASKING.test(calledName(call)?.text ?? '');
}

/** What a text is mistaken for. */
function changed(node: SyntaxNode): readonly string[] {
  return otherTexts(node, (body, table) => (Object.hasOwn(table, body) ? [table[body]] : []));
}

/** What a text may have been before it was mistaken. */
function changedBack(node: SyntaxNode): readonly string[] {
  return otherTexts(node, (body, table) => Object.keys(table).filter((text) => table[text] === body));
}

function otherTexts(
  node: SyntaxNode,
  others: (body: string, table: Readonly<Record<string, string>>) => readonly string[],
): readonly string[] {
  const [, prefix, quote, body] = /^(b?)(["'`])((?:\\.|[^\\])*)\2$/s.exec(node.text) ?? [];
  if (body === undefined) return [];
  const table = CHARACTERS.includes(node.type) ? MISTAKEN : MISTAKEN_TEXTS;
  const mistaken = others(body, table);
  // An empty text that something is added to only says that the sum is a text.
  if (
    body === '' &&
    node.parent !== null &&
    /^binary_/.test(node.parent.type) &&
    field(node.parent, 'operator')?.text === '+'
  )
    return [];
  const isWord = /^[A-Za-z][A-Za-z0-9_-]{2,}$/.test(body) && isCompared(node);
  const replacements = mistaken.length > 0 ? mistaken : isWord ? [recased(body)] : [];
  return replacements.map((replacement) => prefix + quote + replacement + quote);
}

function isName(node: SyntaxNode): boolean {
  const parent = parentOf(node);
  const above = parent === null ? null : parentOf(parent);
  // A second label or key of the same value does not compile.
  if (CHARACTERS.includes(node.type) && /_case$|switch_label|literal_element/.test(`${parent?.type} ${above?.type}`)) {
    return true;
  }
  const isRequired = above !== null && /^(require|import)$/.test(calledName(above)?.text ?? '');
  const isAlone = parent?.type === 'expression_statement';
  return isRequired || isAlone || [parent, above].some((around) => around !== null && NAMING.test(around.type));
}

function textSites(source: ParsedSource, others: (node: SyntaxNode) => readonly string[]): BugSite[] {
  return nodesOf(source, ...TEXTS, ...CHARACTERS).flatMap((node) =>
    (isName(node) ? [] : others(node)).map((replacement) =>
      replaceNode(node, replacement, `${node.text} becomes ${replacement}`),
    ),
  );
}

/** A separator, an empty text or a word's case that is not quite right. */
export const stringChange: BugOperator = {
  name: 'string-change',
  languages: ALL_LANGUAGES,
  sites: (source) => textSites(source, changed),
};

/** Undoes `string-change`. */
export const stringRepair: BugOperator = { ...stringChange, sites: (source) => textSites(source, changedBack) };
