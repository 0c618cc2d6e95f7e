import { lineOpcodes, type Opcode } from './lineMatcher.js';

// Beside LF, VT, FF and CR: file, group and record separator, next line, line and paragraph separator.
const RARE_BREAKS = String.fromCharCode(0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029);
const PYTHON_LINE_BREAK = new RegExp(`\r\n|[\n\v\f\r${RARE_BREAKS}]`);

/** Lines as Python's `str.splitlines()` breaks them; a break at the end opens no further line. */
export function pythonLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(PYTHON_LINE_BREAK);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * The hunks of a unified diff between two texts, header lines dropped: what SWE-RL compares (facebookresearch/swe-rl,
 * `generate_unified_diff`), that is Python's `difflib.unified_diff` over `splitlines()`. Empty where no line differs.
 */
export function unifiedDiffHunks(before: string, after: string, contextLines = 3): string {
  if (before === after) return '';
  const a = pythonLines(before);
  const b = pythonLines(after);
  const lines: string[] = [];
  for (const group of groupOpcodes(lineOpcodes(a, b), contextLines)) {
    const first = group[0];
    const last = group[group.length - 1];
    lines.push(`@@ -${lineRange(first.aStart, last.aEnd)} +${lineRange(first.bStart, last.bEnd)} @@`);
    for (const { tag, aStart, aEnd, bStart, bEnd } of group) {
      if (tag === 'equal') {
        for (const line of a.slice(aStart, aEnd)) lines.push(` ${line}`);
        continue;
      }
      for (const line of a.slice(aStart, aEnd)) lines.push(`-${line}`);
      for (const line of b.slice(bStart, bEnd)) lines.push(`+${line}`);
    }
  }
  return lines.join('\n');
}

/** Changes with up to `context` equal lines around them; a stretch of more than twice that parts two groups. */
function groupOpcodes(opcodes: readonly Opcode[], context: number): Opcode[][] {
  const groups: Opcode[][] = [];
  let group: Opcode[] = [];
  for (const [index, opcode] of opcodes.entries()) {
    if (opcode.tag !== 'equal') {
      group.push(opcode);
      continue;
    }
    const size = opcode.aEnd - opcode.aStart;
    const isFirst = index === 0;
    const isLast = index === opcodes.length - 1;
    const head = { ...opcode, aEnd: opcode.aStart + context, bEnd: opcode.bStart + context };
    const tail = { ...opcode, aStart: opcode.aEnd - context, bStart: opcode.bEnd - context };
    if (isFirst) group.push(size > context ? tail : opcode);
    else if (isLast) group.push(size > context ? head : opcode);
    else if (size > 2 * context) {
      groups.push([...group, head]);
      group = [tail];
    } else group.push(opcode);
  }
  if (group.some((opcode) => opcode.tag !== 'equal')) groups.push(group);
  return groups;
}

/** `line,count` as diff writes it: the count is left out where it is 1, an empty range names the line before it. */
function lineRange(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}
