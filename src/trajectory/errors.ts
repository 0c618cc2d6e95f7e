import { say, saidOf, type Phrase, type Said } from './said.js';

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

/** Words of an error: with `say` where values stand in them, else as they are, since then they are what they are translated by. */
type Words = Said | string;
const asSaid = (words: Words): Said => (typeof words === 'string' ? { message: words } : words);

/** An error for a person: one line that says what and where, and a remedy that says how to mend it. */
export class WhetstoneError extends Error implements Said {
  readonly phrase?: Phrase;
  readonly remedy: Said;

  constructor(
    readonly kind: ErrorKind,
    words: Words,
    remedy: Words,
    options?: { cause?: unknown },
  ) {
    const { message, phrase } = asSaid(words);
    super(message, options);
    this.name = 'WhetstoneError';
    this.phrase = phrase;
    this.remedy = asSaid(remedy);
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
    const { message } = this;
    const remedy = this.remedy.message;
    const shown = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
    return `${shown.replace(/\s*\n\s*/g, ' ')} ${remedy.replace(/\s*\n\s*/g, ' ')}`.trim();
  }

  /** The same, to be said in another language; what is too long for that stands as it is. */
  get said(): Said {
    if (this.message.length > longestMessage) return { message: this.line };
    const said = this.remedy.message === '' ? this : say`${this} ${this.remedy}`;
    return { ...saidOf(said), message: this.line };
  }
}

export const badInput = (words: Words, remedy: Words, cause?: unknown) =>
  new WhetstoneError('bad-input', words, remedy, { cause });
export const failed = (words: Words, remedy: Words, cause?: unknown) =>
  new WhetstoneError('failed', words, remedy, { cause });
export const infrastructure = (words: Words, remedy: Words, cause?: unknown) =>
  new WhetstoneError('infrastructure', words, remedy, { cause });
export const cancelled = (words: Words = 'Cancelled.') => new WhetstoneError('cancelled', words, '');
