import { z } from 'zod';

/** A text with `{0}`, `{1}`, ... where the values stand. */
export interface Phrase {
  readonly template: string;
  readonly values: readonly (string | number)[];
}

/** A text of Whetstone's own for people: in English, and as what its translations are found by. */
export interface Said {
  readonly message: string;
  /** Absent where nothing is filled in, since then the message is the template; in older records; and where the words are another's. */
  readonly phrase?: Phrase;
}

const phraseSchema: z.ZodType<Phrase> = z.object({
  template: z.string(),
  values: z.array(z.union([z.string(), z.number()])),
});

/** Fields of a schema for what holds a Said. */
export const saidFields = { message: z.string(), phrase: phraseSchema.optional() };
export const saidSchema: z.ZodType<Said> = z.object(saidFields);

/** Tags a template literal as a Said. A test looks for a translation of each in the sources. */
export function say(parts: TemplateStringsArray, ...values: readonly (string | number)[]): Said {
  if (values.length === 0) return { message: parts[0] };
  const filledWith = (fill: (at: number) => string) => parts.reduce((text, part, at) => text + fill(at - 1) + part);
  return {
    message: filledWith((at) => String(values[at])),
    phrase: { template: filledWith((at) => `{${at}}`), values },
  };
}
