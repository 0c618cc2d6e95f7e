import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { z } from 'zod';

/** A test as a JUnit XML document reports it, before anyone decides which file of the repository it belongs to. */
export interface JUnitCase {
  /** Names of the suites around it, outermost first; suites without a name are left out. */
  readonly suites: readonly string[];
  readonly className: string;
  readonly name: string;
  /** What the case says of its file, else what the nearest suite says of its own; null where neither does. As written. */
  readonly file: string | null;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it did not pass: the first failure or error, else the skip; null where it passed. */
  readonly reason: JUnitReason | null;
  /** It passed in the end and had failed before, in a repeated run: surefire's and nextest's `flakyFailure`, `flakyError`. */
  readonly flaky: boolean;
}

export interface JUnitReason {
  readonly kind: 'failure' | 'error' | 'skipped';
  /** The exception's class, or what the writer puts there; empty where absent. */
  readonly type: string;
  /** The attribute `message`. */
  readonly message: string;
  /** The element's own text: a stack, in most dialects. */
  readonly text: string;
}

/** Documents longer than this (in UTF-16 units) are refused: a parser of the whole document needs many times as much. */
const longest = 64 * 1024 * 1024;

/**
 * Every test of a JUnit XML document, in the document's order. JUnit XML has no standard; this reads what surefire, Gradle, pytest,
 * jest-junit, gotestsum, cargo-nextest and their like write: the root is `testsuites` or `testsuite`, suites may lie in
 * suites, a file may be named by an attribute `file` or `filepath` of the case or a suite. A failed attempt that is
 * followed by a repeated run which passed (`flakyFailure`) leaves a pass that is flagged; a failure or error beside the cases, or one
 * that a suite counts and does not show, becomes a failed case without a name. Null where the document is cut off, is no
 * well-formed XML, declares a document type (no tool writes one, and entities come with it) or is no JUnit XML.
 */
export function parseJUnitXml(text: string): JUnitCase[] | null {
  const source = text.replace(/^\uFEFF/, '');
  if (source.length > longest || hasDocumentType(source)) return null;
  try {
    // The parser takes any closing tag for the right one, and a missing one for given.
    if (XMLValidator.validate(source) !== true) return null;
    const roots = elementsOf(nodes.parse(parser().parse(source)));
    const suites = roots.filter(({ tag }) => tag === 'testsuites' || tag === 'testsuite');
    return suites.length === 1 && roots.length === 1 ? casesOf(suites[0], [], null) : null;
  } catch {
    return null;
  }
}

/** A document type stands before the root, so that one inside of a test's output is none. */
function hasDocumentType(source: string): boolean {
  const prolog = /^(?:\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->)*/.exec(source)?.[0] ?? '';
  return source.startsWith('<!', prolog.length);
}

/** What tests printed is of no use here, and by far the longest; it is passed over as it stands. */
const parser = () =>
  new XMLParser({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseAttributeValue: false,
    parseTagValue: false,
    trimValues: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    processEntities: { enabled: true, maxExpandedLength: Infinity, maxTotalExpansions: Infinity },
    htmlEntities: true,
    stopNodes: ['..system-out', '..system-err'],
  });

/** The parser's shape: an element is `{tag: nodes, ':@': attributes}`, a text `{'#text': …}`. */
const nodes = z.array(z.record(z.string(), z.unknown()));

interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Readonly<Record<string, unknown>>[];
}

function elementsOf(children: Element['children']): Element[] {
  return children.flatMap((node) => {
    const tag = Object.keys(node).find((key) => key !== ':@' && key !== '#text');
    if (tag === undefined) return [];
    return [
      { tag, attributes: (node[':@'] ?? {}) as Element['attributes'], children: node[tag] as Element['children'] },
    ];
  });
}

const textOf = (element: Element) => element.children.map((node) => String(node['#text'] ?? '')).join('');

const outcomes = new Set(['failure', 'error']);

function casesOf(suite: Element, outer: readonly string[], outerFile: string | null): JUnitCase[] {
  const { attributes } = suite;
  const name = suite.tag === 'testsuite' ? (attributes.name ?? '') : '';
  const suites = name === '' ? outer : [...outer, name];
  const file = fileOf(attributes) ?? outerFile;
  const found = elementsOf(suite.children);
  const cases = found.flatMap((element) => {
    if (element.tag === 'testsuite' || element.tag === 'testsuites') return casesOf(element, suites, file);
    return element.tag === 'testcase' ? [caseOf(element, suites, file)] : [];
  });
  const own = found.find(({ tag }) => outcomes.has(tag));
  const counted = Number(attributes.failures ?? 0) + Number(attributes.errors ?? 0);
  const hidden = counted > 0 && !cases.some(({ status }) => status === 'failed');
  if (!own && !hidden) return cases;
  const reason: JUnitReason = own
    ? reasonOf(own, 'error')
    : { kind: 'error', type: '', message: 'The suite failed, and none of its tests did.', text: '' };
  return [...cases, { suites, className: '', name: '', file, status: 'failed', reason, flaky: false }];
}

const fileOf = ({ file, filepath }: Element['attributes']) => (file || filepath) ?? null;

function caseOf(element: Element, suites: readonly string[], suiteFile: string | null): JUnitCase {
  const { attributes } = element;
  const found = elementsOf(element.children);
  const failure = found.find(({ tag }) => outcomes.has(tag));
  const skip = found.find(({ tag }) => tag === 'skipped' || tag === 'disabled');
  const words = `${attributes.status ?? ''} ${attributes.result ?? ''}`;
  // Writers without such elements (ctest, googletest) say it in a word.
  const failedByWord = /\b(fail(ed|ure)?|error)\b/i.test(words);
  const skippedByWord = /\b(notrun|disabled|skipped|ignored|suppressed)\b/i.test(words);
  const common = {
    suites,
    className: attributes.classname ?? '',
    name: attributes.name ?? '',
    file: fileOf(attributes) ?? suiteFile,
    flaky: false,
  };
  if (failure) return { ...common, status: 'failed', reason: reasonOf(failure, 'failure') };
  if (failedByWord)
    return { ...common, status: 'failed', reason: { kind: 'failure', type: '', message: words.trim(), text: '' } };
  if (skip) return { ...common, status: 'skipped', reason: reasonOf(skip, 'skipped') };
  if (skippedByWord)
    return { ...common, status: 'skipped', reason: { kind: 'skipped', type: '', message: words.trim(), text: '' } };
  const flaky = found.some(({ tag }) => tag === 'flakyFailure' || tag === 'flakyError');
  return { ...common, status: 'passed', reason: null, flaky };
}

function reasonOf(element: Element, otherwise: JUnitReason['kind']): JUnitReason {
  const kind =
    element.tag === 'failure' || element.tag === 'error' || element.tag === 'skipped' ? element.tag : otherwise;
  const { type = '', message = '' } = element.attributes;
  return { kind, type, message, text: textOf(element) };
}
