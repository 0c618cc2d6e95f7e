import { calledName, CALL_TYPES, field, nodesOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { Language, ParsedSource, SyntaxNode } from '../parsing.js';

const ECMASCRIPT = { TypeError: 'RangeError', RangeError: 'TypeError', SyntaxError: 'TypeError', Error: 'TypeError' };
/** Exceptions that are easily taken for one another, and that take the same arguments. */
const MISTAKEN: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  javascript: ECMASCRIPT,
  typescript: ECMASCRIPT,
  tsx: ECMASCRIPT,
  python: {
    KeyError: 'IndexError',
    IndexError: 'KeyError',
    ValueError: 'TypeError',
    TypeError: 'ValueError',
    AttributeError: 'KeyError',
    LookupError: 'ValueError',
    OSError: 'ValueError',
    IOError: 'ValueError',
    FileNotFoundError: 'PermissionError',
    StopIteration: 'IndexError',
    NotImplementedError: 'ValueError',
    RuntimeError: 'ValueError',
    ZeroDivisionError: 'OverflowError',
    OverflowError: 'ValueError',
  },
  go: {
    'io.EOF': 'io.ErrUnexpectedEOF',
    'io.ErrUnexpectedEOF': 'io.EOF',
    'os.ErrNotExist': 'os.ErrExist',
    'os.ErrExist': 'os.ErrNotExist',
    'fs.ErrNotExist': 'fs.ErrExist',
    'fs.ErrExist': 'fs.ErrNotExist',
    'strconv.ErrRange': 'strconv.ErrSyntax',
    'strconv.ErrSyntax': 'strconv.ErrRange',
    'context.Canceled': 'context.DeadlineExceeded',
    'context.DeadlineExceeded': 'context.Canceled',
  },
  rust: {
    NotFound: 'InvalidInput',
    InvalidInput: 'InvalidData',
    InvalidData: 'InvalidInput',
    UnexpectedEof: 'InvalidData',
    PermissionDenied: 'NotFound',
    AlreadyExists: 'NotFound',
    WouldBlock: 'Interrupted',
    Interrupted: 'WouldBlock',
    TimedOut: 'WouldBlock',
  },
  java: {
    IllegalArgumentException: 'IllegalStateException',
    IllegalStateException: 'IllegalArgumentException',
    IndexOutOfBoundsException: 'IllegalArgumentException',
    UnsupportedOperationException: 'IllegalStateException',
    NumberFormatException: 'NullPointerException',
    NullPointerException: 'IllegalArgumentException',
    ArithmeticException: 'IllegalStateException',
  },
};

/** Names of exceptions that are thrown, caught or returned as errors. */
function exceptions(source: ParsedSource): SyntaxNode[] {
  switch (source.language) {
    case 'python': {
      const raised = nodesOf(source, 'raise_statement').flatMap((node) => {
        const [value] = parts(node);
        return value === undefined ? [] : [value.type === 'call' ? field(value, 'function') : value];
      });
      const caught = nodesOf(source, 'except_clause').map((node) => {
        const value = field(node, 'value');
        return value?.type === 'as_pattern' ? parts(value)[0] : value;
      });
      return [...raised, ...caught].filter((node) => node !== null);
    }
    case 'go':
      return nodesOf(source, 'selector_expression', 'identifier').filter(
        ({ parent }) => parent?.type !== 'var_spec' && parent?.parent?.type !== 'expression_case',
      );
    case 'rust':
      return errorVariants(source);
    case 'java': {
      const thrown = nodesOf(source, 'throw_statement').map((node) => field(parts(node)[0], 'type'));
      const caught = nodesOf(source, 'catch_type').filter((node) => parts(node).length === 1 && isOnlyCatch(node));
      return [...thrown, ...caught.map((node) => parts(node)[0])].filter((node) => node !== null);
    }
    default:
      return nodesOf(source, 'new_expression').flatMap((node) => {
        const call = node.parent?.parent;
        const isRejected = call?.type === 'call_expression' && calledName(call)?.text === 'reject';
        const isThrown = node.parent?.type === 'throw_statement' || isRejected;
        return isThrown ? (field(node, 'constructor') ?? []) : [];
      });
  }
}

/** A second clause of a kindred type would not compile. */
const isOnlyCatch = (type: SyntaxNode) => {
  const tried = type.parent?.parent?.parent;
  return (
    tried !== null && tried !== undefined && parts(tried).filter((part) => part.type === 'catch_clause').length === 1
  );
};

/** `ErrorKind::NotFound` and the like, outside of patterns. */
function errorVariants(source: ParsedSource): SyntaxNode[] {
  return nodesOf(source, 'scoped_identifier').flatMap((node) => {
    const owner = field(node, 'path')?.text ?? '';
    const isPattern = /pattern|use_|scoped/.test(node.parent?.type ?? '');
    const isCalled = (CALL_TYPES as readonly string[]).includes(node.parent?.type ?? '');
    return /(Error|ErrorKind)$/.test(owner) && !isPattern && !isCalled ? (field(node, 'name') ?? []) : [];
  });
}

/** What a name is mistaken for: by the table, or another error of the same file. */
function mistakenFor(source: ParsedSource, node: SyntaxNode, all: readonly SyntaxNode[]): string | null {
  const table = MISTAKEN[source.language];
  if (source.language === 'rust')
    return otherVariant(node, all) ?? (isStandard(node) ? (table[node.text] ?? null) : null);
  if (Object.hasOwn(table, node.text)) return table[node.text];
  if (source.language !== 'go' || !/^Err[A-Z]\w*$/.test(node.text) || node.type !== 'identifier') return null;
  const declared = nodesOf(source, 'var_spec').flatMap((spec) => field(spec, 'name') ?? []);
  const sentinels = declared.map(({ text }) => text).filter((name) => /^Err[A-Z]/.test(name));
  return sentinels.includes(node.text) ? (sentinels.find((name) => name !== node.text) ?? null) : null;
}

const isStandard = (node: SyntaxNode) => /(^|::)ErrorKind$/.test(field(node.parent ?? node, 'path')?.text ?? '');

/** Another variant of the same type of error that the file uses without a payload. */
function otherVariant(node: SyntaxNode, all: readonly SyntaxNode[]): string | null {
  const owner = (one: SyntaxNode) => field(one.parent ?? one, 'path')?.text;
  const other = all.find((one) => one.text !== node.text && owner(one) === owner(node));
  return other !== undefined && /^[A-Z]\w*[a-z]\w*$/.test(node.text) && /^[A-Z]\w*[a-z]\w*$/.test(other.text)
    ? other.text
    : null;
}

/** Another type of exception thrown or caught, or another error returned or looked for. */
export const exceptionSwap: BugOperator = {
  name: 'exception-swap',
  languages: ALL_LANGUAGES,
  sites(source) {
    const all = exceptions(source);
    const sites = all.flatMap((node): BugSite[] => {
      const other = mistakenFor(source, node, all);
      return other === null ? [] : [replaceNode(node, other, `${node.text} becomes ${other}`)];
    });
    return sites.sort(bySite);
  },
};

/** Undoes `exception-swap`. */
export const exceptionRepair: BugOperator = {
  ...exceptionSwap,
  sites(source) {
    if (source.language === 'go') return exceptionSwap.sites(source);
    const table = MISTAKEN[source.language];
    const all = exceptions(source);
    const sites = all.flatMap((node) => {
      const names = Object.keys(table).filter((name) => table[name] === node.text);
      const others = source.language === 'rust' && !isStandard(node) ? [otherVariant(node, all) ?? []].flat() : names;
      return others.map((name) => replaceNode(node, name, `${node.text} becomes ${name}`));
    });
    return sites.sort(bySite);
  },
};
