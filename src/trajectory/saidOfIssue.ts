import { say, type Said } from './said.js';

/** zod's own messages, taken apart as `say` would have put them together. */
const forms: readonly (readonly [form: RegExp, made: (...parts: string[]) => Said])[] = [
  [
    /^Invalid input: expected (.+), received (.+)$/,
    (expected, received) => say`Invalid input: expected ${expected}, received ${received}`,
  ],
  [/^Invalid option: expected one of (.+)$/, (options) => say`Invalid option: expected one of ${options}`],
  [/^Too small: expected (\w+) to be (.+)$/, (what, bound) => say`Too small: expected ${what} to be ${bound}`],
  [/^Too small: expected (\w+) to have (.+)$/, (what, bound) => say`Too small: expected ${what} to have ${bound}`],
  [/^Too big: expected (\w+) to be (.+)$/, (what, bound) => say`Too big: expected ${what} to be ${bound}`],
  [/^Too big: expected (\w+) to have (.+)$/, (what, bound) => say`Too big: expected ${what} to have ${bound}`],
];

/** What zod finds wrong with a value; a message of our own, which holds no values, is what it is translated by. */
export function saidOfIssue({ message }: { readonly message: string }): Said {
  for (const [form, made] of forms) {
    const found = form.exec(message);
    if (found) return made(...found.slice(1));
  }
  return { message };
}
