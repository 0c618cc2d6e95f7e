import { isText, nodesOf } from '../tasks/injection/nodes.js';
import { languageOf, parseSource, type ParsedSource, type SyntaxNode } from '../tasks/injection/parsing.js';
import { namedFunctions, smallChanges, type NamedFunction, type SmallChange } from '../tasks/injection/repairs.js';
import { writtenTitle, type Title } from './titles.js';

/** A named function of a file. Indexes are UTF-16, `end` exclusive; `line` counts from 1. */
export interface FunctionFacts {
  readonly name: string;
  /** The class around it; null where there is none. */
  readonly owner: string | null;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** The names that its code uses, those of functions within it too. */
  readonly names: ReadonlySet<string>;
  /** The pieces of its string literals that are long enough to be known again in a message. */
  readonly literals: readonly string[];
  /** Its small changes, those of functions within it left out, as indexes among the file's: in parts that are short enough to be listed. */
  readonly parts: readonly FunctionPart[];
}

export interface FunctionPart {
  /** Counted from 1. */
  readonly line: number;
  readonly changes: readonly number[];
}

/** A block of a test file that a test's title leads to. */
export interface TestBlock {
  readonly title: Title;
  /** Whether it is a test or a suite, by what it is called; other functions are called by tests. */
  readonly isTest: boolean;
  readonly start: number;
  readonly end: number;
  readonly names: ReadonlySet<string>;
}

/** What the search for suspects needs of a file, without its syntax tree. */
export interface FileFacts {
  readonly functions: readonly FunctionFacts[];
  /** All small changes of the file, in its order: functions name theirs by index. */
  readonly changes: readonly SmallChange[];
  readonly blocks: readonly TestBlock[];
  readonly names: ReadonlySet<string>;
}

const none: FileFacts = { functions: [], changes: [], blocks: [], names: new Set() };
/** Parsing a longer file would keep others waiting. */
export const longestText = 200_000;
/** Nobody writes code that is nested deeper, and what looks at it would need time by the square of its depth. */
const deepestCode = 1000;
const shortestLiteral = 6;
const longestLiteral = 500;

const known = new Map<string, FileFacts>();
const keptFiles = 1000;

/** Facts of a file by its text; nothing of languages that are not known and of files that are too long. */
export function fileFacts(path: string, text: string): FileFacts {
  const language = languageOf(path);
  if (language === null || text.length > longestText) return none;
  const key = `${language} ${text}`;
  const facts = known.get(key) ?? readFacts(parseSource(text, language));
  known.delete(key);
  known.set(key, facts);
  const [oldest] = known.keys();
  if (known.size > keptFiles && oldest !== undefined) known.delete(oldest);
  return facts;
}

function readFacts(source: ParsedSource): FileFacts {
  if (isDeeper(source.root, deepestCode)) return none;
  const names = source.root.descendantsOfType(IDENTIFIER_TYPES).map(textAndPlace);
  const namesOf = (node: SyntaxNode) => new Set(within(names, node.startIndex, node.endIndex).map(({ text }) => text));
  const classes = nodesOf(source, ...CLASS_TYPES).flatMap((node) => {
    const name = classNameOf(node);
    return name === undefined ? [] : [{ name, node, start: node.startIndex, end: node.endIndex }];
  });
  const strings = source.root.descendantsOfType(STRING_TYPES).map(textAndPlace);
  const named = namedFunctions(source);
  const changes = smallChanges(source);
  const changesIn = ownChanges(changes, named);
  const functions = named.map(({ name, node }, index): FunctionFacts => {
    const { startIndex: start, endIndex: end } = node;
    const owner = classes.findLast((one) => one.start <= start && end <= one.end && one.end - one.start > end - start);
    return {
      name,
      owner: owner?.name ?? null,
      start,
      end,
      line: node.startPosition.row + 1,
      names: namesOf(node),
      literals: within(strings, start, end).flatMap(({ text }) => literalPieces(text)),
      parts: partsOf(changesIn[index], node.startPosition.row + 1),
    };
  });
  const blocks = [
    ...classes.map(({ name, node }) => ({ title: [name], node, isTest: false })),
    ...named.map((one) => ({ title: [one.name], node: one.node, isTest: isTestFunction(one) })),
    ...rustTests(source),
    ...titledCalls(source),
  ].map(({ node, ...block }) => ({ ...block, start: node.startIndex, end: node.endIndex, names: namesOf(node) }));
  return { functions, changes, blocks, names: new Set(names.map(({ text }) => text)) };
}

/** The changes of each function, with their indexes: each belongs to the innermost function around it. */
function ownChanges(changes: readonly SmallChange[], functions: readonly NamedFunction[]): readonly Numbered[][] {
  const own: Numbered[][] = functions.map(() => []);
  for (const [index, { site, line }] of changes.entries()) {
    // In the order of the file, an inner function comes after the one around it.
    const around = functions.findLastIndex(({ node }) => node.startIndex <= site.start && site.end <= node.endIndex);
    if (around >= 0) own[around].push({ index, line });
  }
  return own;
}

interface Numbered {
  readonly index: number;
  readonly line: number;
}

/** A part is full with so many changes at the end of a line, or with so many within one. */
const fullPart = 12;
const fullestPart = 18;

function partsOf(changes: readonly Numbered[], line: number): readonly FunctionPart[] {
  const parts: { line: number; last: number; changes: number[] }[] = [];
  for (const change of changes) {
    const part = parts.at(-1);
    const isFull =
      part !== undefined &&
      (part.changes.length >= fullestPart || (part.changes.length >= fullPart && part.last !== change.line));
    if (part === undefined || isFull) {
      parts.push({ line: part === undefined ? line : change.line, last: change.line, changes: [change.index] });
    } else {
      part.changes.push(change.index);
      part.last = change.line;
    }
  }
  return parts.map((part) => ({ line: part.line, changes: part.changes }));
}

/** Without recursion, which code that is nested deep enough would bring down. */
function isDeeper(root: SyntaxNode, limit: number): boolean {
  const cursor = root.walk();
  for (let depth = 0; depth <= limit;) {
    if (cursor.gotoFirstChild()) {
      depth += 1;
      continue;
    }
    while (!cursor.gotoNextSibling()) {
      if (!cursor.gotoParent()) return false;
      depth -= 1;
    }
  }
  return true;
}

const IDENTIFIER_TYPES = [
  'identifier',
  'property_identifier',
  'private_property_identifier',
  'shorthand_property_identifier',
  'shorthand_property_identifier_pattern',
  'type_identifier',
  'field_identifier',
];
const STRING_TYPES = [
  'string',
  'template_string',
  'interpreted_string_literal',
  'raw_string_literal',
  'string_literal',
];
const CLASS_TYPES = [
  'class_declaration',
  'abstract_class_declaration',
  'class',
  'class_definition',
  'enum_declaration',
  'record_declaration',
  'interface_declaration',
  'impl_item',
];
/** The name without type parameters and the path before it. */
const classNameOf = (node: SyntaxNode) =>
  (node.childForFieldName('name') ?? node.childForFieldName('type'))?.text
    .split('<', 1)[0]
    .match(/[\w$]+/g)
    ?.at(-1);

const textAndPlace = (node: SyntaxNode) => ({ text: node.text, start: node.startIndex });

/** Of items in the order of the file, those that begin in a range. */
function within<Item extends { readonly start: number }>(items: readonly Item[], start: number, end: number): Item[] {
  return items.slice(firstFrom(items, start), firstFrom(items, end));
}

/** The place of the first item that begins at or behind an index. */
function firstFrom(items: readonly { readonly start: number }[], index: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle].start < index) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A message may be put together: the pieces between what is filled in. */
function literalPieces(text: string): string[] {
  if (text.length > longestLiteral) return [];
  return text
    .replace(/^\w*['"`]+|['"`]+$/g, '')
    .split(/\$?\{[^}]*\}|%\w|\\\w/)
    .map((piece) => piece.trim())
    .filter((piece) => piece.length >= shortestLiteral);
}

/** By its name as Python's and Go's runners tell, by its annotation as JUnit does. */
const isTestFunction = ({ name, node }: { readonly name: string; readonly node: SyntaxNode }) =>
  /^test/i.test(name) ||
  (node.type === 'method_declaration' &&
    node.namedChildren.some((child) => child.type === 'modifiers' && /@\w*Test\b/.test(child.text)));

/** Rust's tests may stand beside what they test, so that they are no functions of the source; those that it calls its own are. */
function rustTests(source: ParsedSource) {
  if (source.language !== 'rust') return [];
  return source.root.descendantsOfType('function_item').flatMap((node) => {
    const name = node.childForFieldName('name')?.text;
    return name !== undefined && isRustTest(node) ? [{ title: [name], node, isTest: true }] : [];
  });
}

function isRustTest(node: SyntaxNode): boolean {
  let above = node.previousNamedSibling;
  while (above !== null && /attribute_item|comment/.test(above.type)) {
    if (above.type === 'attribute_item' && /\btest\b/.test(above.text)) return true;
    above = above.previousNamedSibling;
  }
  return false;
}

const TEST_CALLS = /^(test|it|describe|suite|context|specify)$/;

/** Calls with a title and a function, as `test('adds', () => …)` and `describe.each(…)('adds %s', …)`. */
function titledCalls(source: ParsedSource) {
  if (!['javascript', 'typescript', 'tsx'].includes(source.language)) return [];
  return nodesOf(source, 'call_expression').flatMap((node) => {
    const [first, ...rest] = node.childForFieldName('arguments')?.namedChildren ?? [];
    if (first === undefined || !isText(first)) return [];
    if (!rest.some(({ type }) => /function/.test(type))) return [];
    const called = node.childForFieldName('function')?.text.split(/[(`]/, 1)[0].split('.') ?? [];
    const isTest = called.some((name) => TEST_CALLS.test(name));
    return [{ title: writtenTitle(first.text.slice(1, -1)), node, isTest }];
  });
}
