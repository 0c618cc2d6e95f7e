import { countSyntaxErrors, parseSource, type SyntaxNode } from '../../tasks/injection/parsing.js';

/** Attributes, by the last part of their path, that make a function a test. */
const testAttributes = new Set(['test', 'rstest', 'test_case', 'should_panic', 'quickcheck', 'bench', 'test_log']);
/** Words by which a crate gets code to run before `main`, in the place of the C library's, in other files' text, or at any memory. */
const linkage = new Set([
  ...['link_section', 'no_mangle', 'export_name', 'no_main', 'global_asm', 'asm', 'naked', 'naked_asm', 'linkage'],
  ...['ctor', 'dtor', 'include', 'test_runner', 'reexport_test_harness_main', 'custom_test_frameworks'],
]);
/** Macros that tests fail by: a macro of such a name in the source would stand in their place. */
const assertions = new Set([
  ...['assert', 'assert_eq', 'assert_ne', 'debug_assert', 'debug_assert_eq', 'debug_assert_ne'],
  ...['panic', 'unreachable', 'todo', 'unimplemented', 'matches'],
]);

/**
 * The changed text of a Rust source with the original's tests in it: what stands under `#[cfg(test)]`, and the functions
 * that are tests. Null where that text is not to be graded:
 * - it parses worse than the original, or the place where tests stood is gone;
 * - outside of the tests, something new or changed is compiled otherwise for tests (`#[cfg(not(test))]`, `cfg!(test)`, macros that speak of
 *   `test`), so that what is tested would not be what is used;
 * - it brings in a word of `linkage` or `unsafe` (the secret of the tests' proof lies in the same memory), or defines or passes on a macro with the name of an assertion.
 * Not covered: a program can find out at run time that it is a test program.
 */
export function restoreTests(name: string, original: string, changed: string): string | null {
  if (!name.endsWith('.rs') || original === changed) return changed;
  const [before, after] = [survey(original), survey(changed)];
  if (after.errors > before.errors) return null;
  if (!isWithin(after.conditional, before.conditional) || !isWithin(after.words, before.words)) return null;
  const edits: { start: number; end: number; text: string }[] = [];
  for (const [key, { items }] of before.places) {
    if (items.length > 0 && !after.places.has(key)) return null;
  }
  for (const [key, { items, end }] of after.places) {
    const wanted = before.places.get(key)?.items ?? [];
    const inPlace = wanted.length === items.length;
    edits.push(
      ...items.map(({ start, end: to }, index) => ({ start, end: to, text: inPlace ? wanted[index].text : '' })),
    );
    if (!inPlace && wanted.length > 0) {
      edits.push({ start: end, end, text: `\n${wanted.map(({ text }) => text).join('\n\n')}\n` });
    }
  }
  edits.sort((a, b) => b.start - a.start || b.end - a.end);
  const restored = edits.reduce(
    (text, { start, end, text: put }) => text.slice(0, start) + put + text.slice(end),
    changed,
  );
  return restored !== changed && survey(restored).errors > before.errors ? null : restored;
}

/** Where items stand: the file, a module, an implementation. */
interface Place {
  readonly items: { readonly start: number; readonly end: number; readonly text: string }[];
  /** Where more can be added. */
  readonly end: number;
}

interface Survey {
  readonly errors: number;
  readonly places: ReadonlyMap<string, Place>;
  /** Texts outside of the tests that are compiled otherwise for tests. */
  readonly conditional: readonly string[];
  /** Words outside of the tests that take part in more than the source. */
  readonly words: readonly string[];
}

function survey(text: string): Survey {
  const { root } = parseSource(text, 'rust');
  const places = new Map<string, Place>();
  const conditional: string[] = [];
  const words: string[] = [];
  const visitPlace = (container: SyntaxNode, key: string): void => {
    const end = container.type === 'source_file' ? text.length : container.endIndex - 1;
    const place: Place = { items: [], end };
    const unique = places.has(key)
      ? `${key} #${[...places.keys()].filter((each) => each.startsWith(key)).length}`
      : key;
    places.set(unique, place);
    let attributes: SyntaxNode[] = [];
    for (const child of container.namedChildren) {
      if (child.type === 'attribute_item') attributes.push(child);
      else if (child.type !== 'line_comment' && child.type !== 'block_comment') {
        if (isTestItem(child, attributes)) {
          const start = attributes[0].startIndex;
          place.items.push({ start, end: child.endIndex, text: text.slice(start, child.endIndex) });
        } else {
          for (const node of [...attributes, child]) visit(node, unique);
        }
        attributes = [];
      }
    }
  };
  const visit = (node: SyntaxNode, key: string): void => {
    if (node.type === 'line_comment' || node.type === 'block_comment') return;
    if (node.type === 'attribute_item' || node.type === 'inner_attribute_item') {
      if (mentionsTest(node)) conditional.push(isAttributesOnly(node) ? node.text : node.text + attributed(node));
    } else if (/^macro_(invocation|definition)$/.test(node.type) && mentionsTest(node)) conditional.push(node.text);
    if (node.childCount === 0) words.push(...tellingWord(node));
    const body = node.childForFieldName('body');
    const isPlace = body?.type === 'declaration_list' && /^(mod|impl|trait)_item$/.test(node.type);
    for (const child of node.children) {
      if (isPlace && child.startIndex === body.startIndex && child.type === 'declaration_list') {
        visitPlace(child, `${key} > ${text.slice(node.startIndex, child.startIndex).replace(/\s+/g, ' ').trim()}`);
      } else visit(child, key);
    }
  };
  visitPlace(root, '');
  return { errors: countSyntaxErrors(root), places, conditional, words };
}

/** Under `#[cfg(test)]` or `#[cfg(all(test, …))]`, or a function that is a test. */
function isTestItem(item: SyntaxNode, attributes: readonly SyntaxNode[]): boolean {
  return attributes.some(({ text }) => {
    const plain = text.replace(/\s+/g, '');
    if (/^#\[cfg\((all\()?test[,)]/.test(plain)) return true;
    const path = /^#\[([\w:]+)/.exec(plain)?.[1].split('::') ?? [];
    return item.type === 'function_item' && testAttributes.has(path[path.length - 1]);
  });
}

const isAttributesOnly = (attribute: SyntaxNode) =>
  attribute.type === 'inner_attribute_item' || /^#!?\[\s*cfg_attr\b/.test(attribute.text);

/** The text of what an attribute stands before. */
function attributed(attribute: SyntaxNode): string {
  let next = attribute.nextNamedSibling;
  while (next && /^(attribute_item|line_comment|block_comment)$/.test(next.type)) next = next.nextNamedSibling;
  return next?.text ?? '';
}

function mentionsTest(node: SyntaxNode): boolean {
  if (node.childCount === 0) return /^(r#)?test$/.test(node.text);
  return node.children.some(mentionsTest);
}

function tellingWord(leaf: SyntaxNode): string[] {
  if (leaf.type === 'unsafe') return ['unsafe'];
  if (!/identifier$/.test(leaf.type)) return [];
  const word = leaf.text.replace(/^r#/, '');
  if (linkage.has(word)) return [word];
  if (!assertions.has(word)) return [];
  const [previous, next] = [neighbour(leaf, -1), neighbour(leaf, 1)];
  return next === '!' || next === '::' || previous === '::' ? [] : [word];
}

/** The token before or after a leaf. */
function neighbour(leaf: SyntaxNode, step: 1 | -1): string {
  let node: SyntaxNode | null = leaf;
  while (node && !(step === 1 ? node.nextSibling : node.previousSibling)) node = node.parent;
  let beside = (step === 1 ? node?.nextSibling : node?.previousSibling) ?? null;
  while (beside && beside.childCount > 0) beside = beside.child(step === 1 ? 0 : beside.childCount - 1);
  return beside?.text ?? '';
}

/** Does every text of `part` stand in `whole`, as often? */
function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const text of whole) counts.set(text, (counts.get(text) ?? 0) + 1);
  return part.every((text) => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count > 0;
  });
}
