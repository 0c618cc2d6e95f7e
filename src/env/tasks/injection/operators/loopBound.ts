import { calledName, field, nodesOf, parts, replaceNode } from '../nodes.js';
import { ALL_LANGUAGES, bySite, type BugOperator, type BugSite } from '../operator.js';
import type { ParsedSource, SyntaxNode } from '../parsing.js';
import { moved } from './indexChange.js';

const STARTS: Readonly<Record<string, string>> = { '0': '1', '1': '0' };

function startSite(start: SyntaxNode | null): BugSite[] {
  if (start === null || !Object.hasOwn(STARTS, start.text)) return [];
  return [replaceNode(start, STARTS[start.text], `loop starts at ${STARTS[start.text]}`)];
}

function endSite(source: ParsedSource, end: SyntaxNode | null): BugSite[] {
  if (end === null) return [];
  const isPlain = /^(identifier|.*call.*|method_invocation|member_expression|field_\w+|attribute|selector_expression)$/;
  const bound = isPlain.test(end.type) ? `${end.text} - 1` : moved(source, end);
  return bound === null ? [] : [replaceNode(end, bound, `loop ends at ${bound}`)];
}

/** `for (i = 0; i < n; i++)` starts one later or ends one earlier. */
function countingLoops(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'for_statement', 'for_clause').flatMap((head) => {
    const initial = field(head, 'initializer') ?? field(head, 'init');
    const condition = field(head, 'condition');
    const isUpwards = condition !== null && /^<=?$/.test(field(condition, 'operator')?.text ?? '');
    if (initial === null || condition === null || !isUpwards) return [];
    const values = initial.descendantsOfType(['number', 'int_literal', 'decimal_integer_literal']);
    const isWhole = values.length === 1 && !/^binary_|argument/.test(values[0].parent?.type ?? '');
    return [...(isWhole ? startSite(values[0]) : []), ...endSite(source, field(condition, 'right'))];
  });
}

/** Python's `range` and Rust's ranges, where a loop goes over them. */
function rangeLoops(source: ParsedSource): BugSite[] {
  return nodesOf(source, 'for_statement', 'for_in_clause', 'for_expression').flatMap((loop) => {
    const range = field(loop, 'right') ?? field(loop, 'value');
    if (range?.type === 'range_expression') return rustRange(range);
    if (range?.type !== 'call' || calledName(range)?.text !== 'range') return [];
    const [first, second] = parts(field(range, 'arguments') ?? range);
    if (first === undefined || /splat|keyword/.test(first.type)) return [];
    if (second !== undefined) return [...startSite(first), ...endSite(source, second)];
    return [replaceNode(first, `1, ${first.text}`, 'loop starts at 1'), ...endSite(source, first)];
  });
}

function rustRange(range: SyntaxNode): BugSite[] {
  const [start, end] = parts(range);
  const token = range.children.find(({ isNamed }) => !isNamed);
  if (start === undefined || end === undefined || token === undefined) return [];
  const other = token.text === '..' ? '..=' : '..';
  return [...startSite(start), replaceNode(token, other, `${token.text} becomes ${other}`)];
}

/** A loop that starts or ends one too early or too late. */
export const loopBound: BugOperator = {
  name: 'loop-bound',
  languages: ALL_LANGUAGES,
  sites: (source) => [...countingLoops(source), ...rangeLoops(source)].sort(bySite),
};

/** Undoes `loop-bound`: a loop that begins at its start again, and goes to its end. */
export const loopBoundRepair: BugOperator = {
  ...loopBound,
  sites(source) {
    const shorter = /^(.+) - 1$/s;
    const ends = loopBound.sites(source).filter(({ start, end, replacement }) => {
      const text = source.text.slice(start, end);
      return shorter.exec(text)?.[1] === replacement || Object.hasOwn(STARTS, text) || text.startsWith('..');
    });
    return [...ends, ...wholeRanges(source)].sort(bySite);
  },
};

/** Python's `range(1, n)` becomes `range(n)`. */
function wholeRanges(source: ParsedSource): BugSite[] {
  if (source.language !== 'python') return [];
  return nodesOf(source, 'for_statement', 'for_in_clause').flatMap((loop) => {
    const range = field(loop, 'right');
    const [first, second, third] = parts((range === null ? null : field(range, 'arguments')) ?? loop);
    if (range?.type !== 'call' || calledName(range)?.text !== 'range' || first.text !== '1' || third !== undefined) {
      return [];
    }
    if (second === undefined) return [];
    return [{ start: first.startIndex, end: second.startIndex, replacement: '', description: 'loop starts at 0' }];
  });
}
