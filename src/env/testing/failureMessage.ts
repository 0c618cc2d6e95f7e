/**
 * What the policy reads of a failed test: a few lines, the same for the same failure on every machine and at every time.
 * No durations of the run, temporary paths, addresses or colours; paths are relative to the repository root.
 */

/** A place in the repository. `file` is relative to its root, with `/`. */
export interface Frame {
  readonly file: string;
  readonly line: number;
}

const maxLines = 6;
const maxLineLength = 240;

/** An error of node:test as our reporter wrote it. */
export interface NodeError {
  readonly message: string;
  readonly name?: string;
  readonly stack?: string;
  readonly generated?: boolean;
  readonly operator?: string;
  /** Printed on one line by the reporter; absent where the error has no such field. */
  readonly expected?: string;
  readonly actual?: string;
  /** What the file's process wrote to its standard error, where the file as a whole failed. */
  readonly stderr?: string;
}

export interface MessageContext {
  /** The tree's path as the tests saw it. */
  readonly tree: string;
  readonly testFile: string;
}

export function nodeFailureMessage(error: NodeError, context: MessageContext): string {
  const fromFile = error.stderr === undefined ? null : fileFailure(error.stderr, context);
  if (fromFile) return fromFile;
  const stack = error.stack ?? '';
  return failureText(
    [...nodeHeadline(error)],
    usefulFrames(nodeFrames(stack, context.tree), context.testFile),
    context,
  );
}

/** The assertion's own words on one line, with both values. */
function nodeHeadline(error: NodeError): string[] {
  const plain = withoutColours(error.message).trim();
  const [title, ...rest] = plain.split('\n').map((line) => line.trimEnd());
  const body = rest.filter((line) => line.trim() !== '');
  const values =
    error.operator !== undefined && error.expected !== undefined && error.actual !== undefined
      ? ` (expected ${error.expected}, actual ${error.actual})`
      : '';
  if (error.operator === undefined) {
    const name = error.name && error.name !== 'Error' && !plain.startsWith(error.name) ? `${error.name}: ` : '';
    return [`${name}${title}`, ...body.slice(0, 3)];
  }
  if (!error.generated) return [`${title}${values}`];
  // A difference drawn over lines (`+ actual - expected`) says no more than both values, and not the same in every version.
  const isShort = body.length === 1 && !/^[+-] /.test(body[0]);
  const heading = title.replace(/:$/, '');
  if (isShort) return [`${heading}: ${body[0].trim()}${values}`];
  return [values ? `${heading}${values}` : [heading, ...body.slice(0, 2).map((line) => line.trim())].join(' ')];
}

/** An error thrown while a file was loaded: found in what its process wrote. */
function fileFailure(stderr: string, context: MessageContext): string | null {
  const lines = withoutColours(stderr).split('\n');
  const index = lines.findIndex((line) => /^(Uncaught )?([A-Z]\w*)?(Error|Exception)( \[\w+\])?(:|$)/.test(line));
  if (index < 0) return null;
  const before = lines.slice(0, index).flatMap((line) => {
    const match = /^(?:file:\/\/)?(\/.+|[A-Za-z]:[\\/].+):(\d+)$/.exec(line.trim());
    const file = match && insideTree(match[1], context.tree);
    return match && file ? [{ file, line: Number(match[2]) }] : [];
  });
  const frames = [...before, ...nodeFrames(lines.slice(index).join('\n'), context.tree)];
  return failureText([lines[index].replace(/ \[ERR_\w+\]/, '')], usefulFrames(frames, context.testFile), context);
}

/** Places inside of the tree that a V8 stack names, innermost first. */
export function nodeFrames(stack: string, tree: string): Frame[] {
  return stack.split('\n').flatMap((line) => {
    const match = /^\s+at (?:async )?(?:.*\()?(?:file:\/\/)?((?:\/|[A-Za-z]:[\\/]).*?):(\d+):\d+\)?$/.exec(line);
    const file = match && insideTree(match[1], tree);
    return match && file ? [{ file, line: Number(match[2]) }] : [];
  });
}

/** The parts of a pytest failure (`--tb=short`): lines that begin with `E`, and the places in between. */
export function pytestFailureMessage(text: string, fallback: string, context: MessageContext): string {
  const lines = withoutColours(text).split('\n');
  const explanation = lines.filter((line) => /^E\s/.test(line)).map((line) => line.replace(/^E {1,3}/, ''));
  const frames = lines.flatMap((line) => {
    const match = /^(\S.*?):(\d+): (?:in .+|\w+(?:Error|Exception)?)$/.exec(line);
    const file = match && (insideTree(match[1], context.tree) ?? relativeFile(match[1]));
    return match && file ? [{ file, line: Number(match[2]) }] : [];
  });
  const headline = syntaxErrorFirst(explanation.filter((line) => line.trim() !== '' && !hint.test(line))).slice(0, 4);
  // pytest prints the innermost place last.
  const innermostFirst = [...frames].reverse();
  const shown = headline.length > 0 ? headline : fallback.split('\n').slice(0, 3);
  return failureText(shown, usefulFrames(innermostFirst, context.testFile), context);
}

/** What pytest says about its own output; it depends on whether it takes itself to run unattended. */
const hint = /^\s*(Use -v+ to get|Full diff:)/;

/** A syntax error comes as `File "…", line n`, the code, a caret, the error. */
function syntaxErrorFirst(explanation: readonly string[]): readonly string[] {
  if (!/^\s*File "/.test(explanation[0] ?? '')) return explanation;
  const place = explanation[0].trim();
  return [explanation[explanation.length - 1], place, ...explanation.slice(1, 2)];
}

const relativeFile = (name: string) =>
  /^(\/|[A-Za-z]:|\.\.|<)/.test(name) || /site-packages/.test(name) ? null : slashes(name);

/** Where the code went wrong, then where the test was: at most one place each. */
export function usefulFrames(innermostFirst: readonly Frame[], testFile: string): Frame[] {
  const source = innermostFirst.find((frame) => frame.file !== testFile);
  const test = innermostFirst.find((frame) => frame.file === testFile);
  return [source, test].filter((frame) => frame !== undefined);
}

/** The words, cut and made the same everywhere, then the places. */
export function failureText(headline: readonly string[], frames: readonly Frame[], context: MessageContext): string {
  const places = frames.map((frame) => `at ${frame.file}:${frame.line}`);
  const words = headline.map((line) => cut(normalizeText(line, context.tree)));
  return [...words.slice(0, maxLines - places.length), ...places].join('\n');
}

/** Paths of the tree made relative; temporary paths and addresses replaced by fixed words. */
export function normalizeText(text: string, tree: string): string {
  return withoutColours(text)
    .replaceAll(`file://${encodeURI(slashes(tree))}/`, '')
    .replaceAll(`${tree}/`, '')
    .replaceAll(`${tree}\\`, '')
    .replace(/(?:\/private)?\/(?:var\/)?tmp\/[^\s'"`:,;)\]}]+/g, '<tmp>')
    .replace(/\bat 0x[0-9a-f]{6,}/gi, 'at 0x…')
    .trimEnd();
}

const cut = (line: string) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength - 1)}…` : line);

// eslint's rule against control characters is met by building the expression from its code.
const escapeSequence = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, 'g');
export const withoutColours = (text: string) => text.replace(escapeSequence, '');

const slashes = (name: string) => name.replaceAll('\\', '/');

/** The path relative to the tree, with `/`; null outside of it and inside of installed dependencies. */
export function insideTree(name: string, tree: string): string | null {
  // A file URL of Windows has a slash before the drive's letter.
  const decoded = slashes(decode(name)).replace(/^\/(?=[A-Za-z]:\/)/, '');
  const prefix = `${slashes(tree)}/`;
  if (!decoded.startsWith(prefix)) return null;
  const relative = decoded.slice(prefix.length);
  return /(^|\/)(node_modules|site-packages|\.venv|venv)\//.test(relative) ? null : relative;
}

function decode(name: string): string {
  try {
    return decodeURI(name).replaceAll('%23', '#').replaceAll('%3F', '?');
  } catch {
    return name;
  }
}
