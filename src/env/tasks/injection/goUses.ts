import { firstInScope, lookUp, type Binding } from './bindings.js';
import { field, nodesOf, parentOf } from './nodes.js';
import type { BugSite } from './operator.js';
import type { ParsedSource, SyntaxNode } from './parsing.js';

interface Span {
  readonly start: number;
  readonly end: number;
}
interface Read extends Span {
  readonly name: string;
  /** What is read: a local variable, or an imported package by its name. */
  readonly of: Binding | string;
}

/** Go refuses a local variable, an import or a label that nothing uses. Would the bug leave one behind? */
export function leavesUnused(source: ParsedSource, site: BugSite): boolean {
  const removed = source.text.slice(site.start, site.end);
  if (JUMP.test(removed) && !JUMP.test(site.replacement)) return true;
  const { reads, byWhat } = readsOf(source);
  return between(reads, site).some(({ name, of }) => {
    if (mentions(site.replacement, name)) return false;
    // What is declared in the site goes with it.
    if (typeof of !== 'string' && of.visibleFrom > site.start && of.visibleFrom <= site.end) return false;
    return (byWhat.get(of) ?? []).every((read) => isInside(read, site));
  });
}

/** Is the local variable that a name stands for read anywhere but in the span? */
export function isReadOutside(source: ParsedSource, node: SyntaxNode, span: Span): boolean {
  const of = variableAt(source, node);
  return of !== null && (readsOf(source).byWhat.get(of) ?? []).some((read) => !isInside(read, span));
}

interface Reads {
  /** In the order of the file. */
  readonly reads: readonly Read[];
  readonly byWhat: ReadonlyMap<Binding | string, readonly Read[]>;
}

const known = new WeakMap<ParsedSource, Reads>();

function readsOf(source: ParsedSource): Reads {
  const found = known.get(source) ?? findReads(source);
  known.set(source, found);
  return found;
}

function findReads(source: ParsedSource): Reads {
  const packages = new Set(nodesOf(source, 'import_spec').map(packageName));
  const reads = nodesOf(source, 'identifier', 'package_identifier').flatMap((node) => {
    const name = node.text;
    const of = variableAt(source, node) ?? (packages.has(name) ? name : null);
    return of === null || !isRead(node) ? [] : [{ start: node.startIndex, end: node.endIndex, name, of }];
  });
  const byWhat = new Map<Binding | string, Read[]>();
  for (const read of reads) byWhat.set(read.of, [...(byWhat.get(read.of) ?? []), read]);
  return { reads, byWhat };
}

function variableAt(source: ParsedSource, node: SyntaxNode): Binding | null {
  const binding = lookUp(source, node.text, node);
  return binding?.role === 'local' ? firstInScope(source, binding) : null;
}

const packageName = (spec: SyntaxNode) =>
  field(spec, 'name')?.text ?? field(spec, 'path')?.text.slice(1, -1).split('/').at(-1);

/** Declarations and the targets of plain assignments are no uses. */
function isRead(node: SyntaxNode): boolean {
  const parent = parentOf(node);
  if (parent === null || /^(parameter_declaration|const_spec|import_spec|package_clause)$/.test(parent.type))
    return false;
  if (parent.type === 'var_spec') return field(parent, 'name')?.id !== node.id;
  const holder = parent.type === 'expression_list' ? parentOf(parent) : null;
  if (holder === null || field(holder, 'left')?.id !== parent.id) return true;
  return field(holder, 'operator')?.text.length === 2;
}

const JUMP = /\b(break|continue|goto)[ \t]+\w/;

const isInside = (read: Span, span: Span) => read.start >= span.start && read.end <= span.end;

/** The reads in a span, found by halving. */
function between(reads: readonly Read[], span: Span): readonly Read[] {
  let low = 0;
  let high = reads.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reads[middle].start < span.start) low = middle + 1;
    else high = middle;
  }
  const inside: Read[] = [];
  while (low < reads.length && reads[low].end <= span.end) inside.push(reads[low++]);
  return inside;
}

const mentions = (text: string, name: string) =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${name}(?![\\p{L}\\p{N}_])`, 'u').test(text);
