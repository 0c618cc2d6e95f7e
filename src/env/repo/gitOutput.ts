/** One line of git's output. */
export const line = (text: string) => text.replace(/\r?\n$/, '');

/** Entries of git's output with `-z`. */
export const splitNul = (text: string) => text.split('\0').filter((part) => part !== '');
