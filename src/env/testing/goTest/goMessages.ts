import path from 'node:path';
import { failureText, insideTree, usefulFrames, type Frame, type MessageContext } from '../failureMessage.js';

const shownLines = 4;

/** What each test (`TestA/sub`) printed or logged, of the output of a test program under `-test.v`. */
export function outputByTest(output: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current = '';
  const lines = output.split('\n');
  lines.forEach((line, index) => {
    const marker =
      /^\s*=== (?:RUN|NAME|CONT|PAUSE)\s+(\S+)$/.exec(line) ?? /^\s*--- (?:FAIL|PASS|SKIP): (\S+) \(/.exec(line);
    if (marker) current = marker[1];
    else if (/^(PASS|FAIL)$/.test(line)) current = '';
    else {
      // A test that runs in parallel may get a word in between another's end and its panic.
      const panicking = line.startsWith('panic: ') ? testInTrace(lines.slice(index)) : null;
      if (panicking !== null && current.split('/')[0] !== panicking) current = panicking;
      found.set(current, [...(found.get(current) ?? []), line]);
    }
  });
  return found;
}

/** The test whose function stands in a goroutine's trace; null where none does. */
function testInTrace(lines: readonly string[]): string | null {
  for (const line of lines) {
    const call = /^\S+\.((?:Test|Fuzz|Example|Benchmark)\w*)(?:\.func[\w.]+)?\(/.exec(line);
    if (call) return call[1];
  }
  return null;
}

/** A failed test's own words: a panic, or what it logged (`file_test.go:12: got 5`). `folder` is its package's. */
export function goFailureMessage(lines: readonly string[], folder: string, context: MessageContext): string {
  const panic = lines.findIndex((line) => /^(panic|fatal error): /.test(line));
  if (panic >= 0) {
    const headline = lines[panic].replace(/ \[recovered(, repanicked)?\]$/, '');
    return failureText([headline], usefulFrames(traceFrames(lines, context.tree), context.testFile), context);
  }
  const frames: Frame[] = [];
  const words: string[] = [];
  for (const line of lines) {
    const logged = /^\s+([\w.-]+\.go):(\d+): ?(.*)$/.exec(line);
    if (logged) frames.push({ file: path.posix.join(folder, logged[1]), line: Number(logged[2]) });
    const text = (logged ? logged[3] : line).trim();
    // testify says where and which once more.
    if (text !== '' && !/^(Error Trace|Test):\s/.test(text)) words.push(text.replace(/^Error:\s+/, ''));
  }
  return failureText(words.slice(0, shownLines), usefulFrames(frames, context.testFile), context);
}

/** Places of the tree in a goroutine's trace, innermost first. */
function traceFrames(lines: readonly string[], tree: string): Frame[] {
  return lines.flatMap((line) => {
    const match = /^\t(.+\.go):(\d+)(?: \+0x[0-9a-f]+)?$/.exec(line);
    const file = match && insideTree(match[1], tree);
    return match && file ? [{ file, line: Number(match[2]) }] : [];
  });
}

/** Why a package was not built: the compiler's lines, those of the package's own files first. `root` is where Go was started. */
export function buildFailureMessage(output: string, root: string, folder: string, context: MessageContext): string {
  const errors = output.split('\n').flatMap((line) => {
    const match = /^(?:vet: )?(\S.*\.go):(\d+):(?:\d+:)? (.*)$/.exec(line);
    return match ? [{ file: path.posix.join(root, match[1]), line: match[2], text: match[3] }] : [];
  });
  const own = errors.filter(({ file }) => path.posix.dirname(file) === folder);
  const shown = (own.length > 0 ? own : errors).slice(0, shownLines);
  if (shown.length > 0) {
    return failureText(
      shown.map(({ file, line, text }) => `${file}:${line}: ${text}`),
      [],
      context,
    );
  }
  const last = output.split('\n').filter((line) => line.trim() !== '' && !/^(ok|FAIL|\?)\b/.test(line));
  return failureText(last.slice(0, shownLines), [], context);
}
