import { WhetstoneError } from '../trajectory/errors.js';
import { say, type Said } from '../trajectory/said.js';

/** Prints one JSON document on standard output and nothing else. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** A line for a person, on standard output. */
export function print(line = ''): void {
  process.stdout.write(`${line}\n`);
}

/** Control characters of untrusted text (file names, test output) must not reach the terminal. */
export function printable(text: string): string {
  // eslint's no-control-regex is about accidents; here the control characters are the point.
  return [...text].map((character) => (isControl(character) ? '\ufffd' : character)).join('');
}
function isControl(character: string): boolean {
  const code = character.codePointAt(0)!;
  return (
    (code < 0x20 && character !== '\n' && character !== '\t') ||
    (code >= 0x7f && code < 0xa0) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069)
  );
}

/** A path for a person to copy into a shell; nothing here goes through one. */
export function quoted(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Rows as aligned columns; numbers and percentages to the right. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const rightAligned = header.map(
    (_, column) => rows.length > 0 && rows.every((row) => /^[-+]?[\d.]+\s?%?$|^-?$/.test(row[column])),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (rightAligned[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

export const percent = (rate: number) => `${(100 * rate).toFixed(0)} %`;

/**
 * Progress on standard error: one line rewritten on a terminal, a line every few seconds elsewhere. Who sets the environment's
 * WHETSTONE_PROGRESS to `json`, as the editor does, gets each line as a Said in JSON, to be said in their own language.
 */
export class ProgressLine {
  private readonly isJson = isReadByProgram();
  private shown = 0;
  /** `time` by a clock that nobody sets. */
  private lastPlain = { time: -Infinity, text: '' };

  update(said: Said): void {
    const clean = printable(said.message).replace(/\s+/g, ' ');
    if (process.stderr.isTTY && !this.isJson) {
      const columns = process.stderr.columns || 80;
      const cut = clean.slice(0, columns - 1);
      process.stderr.write(`\r${cut.padEnd(this.shown)}`);
      this.shown = cut.length;
    } else if (performance.now() - this.lastPlain.time > 5000 && clean !== this.lastPlain.text) {
      this.lastPlain = { time: performance.now(), text: clean };
      process.stderr.write(`${this.isJson ? JSON.stringify(said) : clean}\n`);
    }
  }

  /** A line that stays. */
  say(text: string): void {
    this.clear();
    process.stderr.write(`${printable(text)}\n`);
  }

  clear(): void {
    if (this.shown > 0) process.stderr.write(`\r${' '.repeat(this.shown)}\r`);
    this.shown = 0;
  }
}

/** The line, as a Said, and the exit code of whatever was thrown. */
export function describeError(error: unknown): { said: Said; exitCode: number } {
  if (error instanceof WhetstoneError) return { said: error.said, exitCode: error.exitCode };
  const { code, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOSPC') {
    const said = path
      ? say`The disk is full (${path}). Free some space and run the command again.`
      : say`The disk is full. Free some space and run the command again.`;
    return { said, exitCode: 2 };
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    const said = path
      ? say`Permission denied for ${path}. Check the permissions and run the command again.`
      : say`Permission denied. Check the permissions and run the command again.`;
    return { said, exitCode: 2 };
  }
  const message = `internal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  return { said: { message }, exitCode: 1 };
}

/**
 * Says on standard error what a command failed of. Who reads its progress as JSON gets that so too, in a line of its own:
 * `{"error": ...}` with a Said.
 */
export function complain(said: Said): void {
  const line = isReadByProgram() ? JSON.stringify({ error: said }) : `whetstone: ${printable(said.message)}`;
  process.stderr.write(`${line}\n`);
}

const isReadByProgram = () => process.env.WHETSTONE_PROGRESS === 'json';
