/**
 * Makes observations short, regular and repeatable: the same actions must give the same tokens. Everything here is
 * pure. File contents only pass `plainText` (an edit has to quote them exactly); what programs print also passes
 * `normalizeOutput`.
 */

const ESC = '\u001B';
const ANSI_ESCAPE = new RegExp(
  `${ESC}\\][^\u0007${ESC}]*(?:\u0007|${ESC}\\\\)?|(?:${ESC}\\[|\u009B)[0-?]*[ -/]*[@-~]|${ESC}[ -/]*[0-~]`,
  'g',
);
const CONTROL_EXCEPT_TAB_AND_NEWLINE = /(?![\t\n])\p{Cc}/gu;
const LONE_SURROGATE = /[\uD800-\uDFFF]/gu;

/** Line feeds only, no ANSI escapes, no control characters, no trailing blank space at the end of the text. */
export function plainText(text: string): string {
  return text
    .replace(ANSI_ESCAPE, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROL_EXCEPT_TAB_AND_NEWLINE, '')
    .replace(LONE_SURROGATE, '\uFFFD')
    .trimEnd();
}

export interface VolatileContext {
  /** Absolute paths of the tree (on this machine, in the sandbox): shown relative, the root itself as `.`. */
  readonly roots: readonly string[];
  /** Milliseconds since 1970 when the output was made: dates and clock times close to it are volatile, others are data. */
  readonly now: number;
}

/** Replaces what differs from one run to the next: tree and temporary paths, times, durations, addresses, process ids. */
export function normalizeOutput(text: string, context: VolatileContext): string {
  let result = plainText(text);
  for (const root of [...context.roots].sort((a, b) => b.length - a.length)) result = relativePaths(result, root);
  return result
    .replace(/(?:\/private)?\/(?:tmp|var\/tmp|dev\/shm|var\/folders\/[^/\s]+\/[^/\s]+\/T)\/[^/\s'"`:,)\]]+/g, '<tmp>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>')
    .replace(/\b0x[0-9a-f]{9,16}\b/gi, '<address>')
    .replace(/\bat 0x[0-9a-f]{6,16}\b/gi, 'at <address>')
    .replace(/\(node:\d+\)/g, '(node:<pid>)')
    .replace(/\b(pid|PID|process|Process)([ :=]+)\d+\b/g, '$1$2<pid>')
    .replace(DATES, (match) => (isCloseDate(match, context.now) ? '<date>' : match))
    .replace(/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, (match) => (isCloseClock(match, context.now) ? '<time>' : match))
    .replace(/\bduration_ms:? \d+(?:\.\d+)?(?:e-?\d+)?/g, 'duration_ms <duration>')
    .replace(/(?<![\w.])\d+(?:\.\d+)? ?(?:ms|µs|us|ns|s|secs?|seconds?|mins?|minutes?)\b/g, '<duration>');
}

/** Cuts the middle out of `text` so that at most `characters` code points stay, the marker included where it fits. */
export function cutMiddle(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const points = Array.from(text);
  if (points.length <= characters) return text;
  const marker = (cut: number) => `\n... ${cut} characters cut ...\n`;
  const kept = Math.max(0, characters - marker(points.length).length);
  const head = Math.ceil(kept / 2);
  const tail = kept - head;
  return points.slice(0, head).join('') + marker(points.length - kept) + points.slice(points.length - tail).join('');
}

/** What every observation passes last: plain text, cut in the middle to the budget, never empty. */
export function finishObservation(text: string, characters: number): string {
  return cutMiddle(plainText(text), characters) || '(no output)';
}

/** Cuts one line at `characters` and says how much is missing. */
export function cutLine(line: string, characters: number): string {
  const points = line.length <= characters ? [] : Array.from(line);
  if (points.length <= characters) return line;
  return `${points.slice(0, characters).join('')} ... ${points.length - characters} characters cut`;
}

function relativePaths(text: string, root: string): string {
  const bare = root.replace(/[/\\]+$/, '');
  if (bare.length < 2) return text;
  const forms = new Set([bare, encodeURI(bare), bare.replaceAll('\\', '\\\\'), bare.replaceAll('\\', '/')]);
  const alternatives = [...forms].sort((a, b) => b.length - a.length).map(escapeRegExp);
  return text.replace(
    new RegExp(`(?:file://)?(?:${alternatives.join('|')})(?:([/\\\\]+)(?=[^\\s'"\`:,;)\\]])|[/\\\\]?(?![\\w.-]))`, 'g'),
    (_match, separator: string | undefined) => (separator ? '' : '.'),
  );
}

const DAY = 24 * 3600_000;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const CLOCK = '\\d\\d:\\d\\d(?::\\d\\d(?:[.,]\\d+)?)?';
const DATES = new RegExp(
  [
    `\\b\\d{4}-\\d\\d-\\d\\d(?:[T ]${CLOCK}(?: ?(?:Z|[+-]\\d\\d:?\\d\\d))?)?\\b`, // ISO 8601
    `\\b${WEEKDAY} ${MONTH} +\\d+ ${CLOCK}(?: [A-Z]{2,5})?(?: \\d{4})?\\b`, // date, ctime
    `\\b${WEEKDAY}, \\d+ ${MONTH} \\d{4} ${CLOCK}(?: [A-Z]{2,5}| [+-]\\d{4})?`, // HTTP, mail
    `\\b${MONTH} +\\d+ ${CLOCK}(?![:\\d])`, // ls -l
    '\\b\\d{10}(?:\\d{3})?\\b', // seconds or milliseconds since 1970
  ].join('|'),
  'g',
);
const CLOCK_TOLERANCE = 15 * 60_000;

function isCloseDate(text: string, now: number): boolean {
  return Math.abs(parseDate(text, now) - now) < 2 * DAY;
}

/** Milliseconds since 1970, taken as UTC where no zone is given; NaN where it is no date. */
function parseDate(text: string, now: number): number {
  if (/^\d+$/.test(text)) return Number(text) * (text.length === 10 ? 1000 : 1);
  const plain = text
    .replace(',', text.includes('-') ? '.' : '')
    .replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
    .replace(/ (?=Z|[+-])/, '')
    .replace(/ [A-Z]{2,5}\b/, '');
  return Date.parse(/\d{4}/.test(plain) ? plain : `${plain} ${new Date(now).getUTCFullYear()}`);
}

function isCloseClock(text: string, now: number): boolean {
  const [hours, minutes, seconds] = text.split(/[:.,]/).map(Number);
  const time = ((hours * 60 + minutes) * 60 + seconds) * 1000;
  const local = now - new Date(now).getTimezoneOffset() * 60_000;
  return [now, local].some((clock) => {
    const distance = Math.abs(time - (((clock % DAY) + DAY) % DAY));
    return Math.min(distance, DAY - distance) < CLOCK_TOLERANCE;
  });
}

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
