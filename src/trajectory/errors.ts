/** What kind of failure an error is; it decides the exit code of the command line and what a rollout records. */
export type ErrorKind =
  /** The user's input or surroundings are wrong: exit code 2. */
  | 'bad-input'
  /** The thing asked about failed: exit code 1. */
  | 'failed'
  /** The machine failed, not the policy: never graded as a reward of 0; exit code 1. */
  | 'infrastructure'
  /** Cancelled by the user or by a limit on the whole command; exit code 1. */
  | 'cancelled';

/** Names and reasons may come out of hostile files, and a line of a megabyte is none. */
const longestMessage = 1500;

/** An error for a person: one line that says what and where, and a remedy that says how to mend it. */
export class WhetstoneError extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly remedy: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'WhetstoneError';
  }

  /** Told by name: each bundle has a class of its own, and the editor's two pass errors to one another. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'WhetstoneError';
  }

  /** Exit code for the command line: 2 for bad input, 1 otherwise. */
  get exitCode(): 1 | 2 {
    return this.kind === 'bad-input' ? 2 : 1;
  }

  /** The single line that the command line prints. */
  get line(): string {
    const { message, remedy } = this;
    const shown = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
    return `${shown.replace(/\s*\n\s*/g, ' ')} ${remedy.replace(/\s*\n\s*/g, ' ')}`.trim();
  }
}

export const badInput = (message: string, remedy: string, cause?: unknown) =>
  new WhetstoneError('bad-input', message, remedy, { cause });
export const failed = (message: string, remedy: string, cause?: unknown) =>
  new WhetstoneError('failed', message, remedy, { cause });
export const infrastructure = (message: string, remedy: string, cause?: unknown) =>
  new WhetstoneError('infrastructure', message, remedy, { cause });
export const cancelled = (message = 'Cancelled.') => new WhetstoneError('cancelled', message, '');
