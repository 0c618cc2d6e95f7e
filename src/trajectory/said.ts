/** What stands in a text: a name or a number, which is the same in every language, or what is said itself. */
type Value = string | number | Said;

/** A text with `{0}`, `{1}`, ... where the values stand. */
export interface Phrase {
  readonly template: string;
  readonly values: readonly Value[];
}

/** A text of Whetstone's own for people: in English, and as what its translations are found by. */
export interface Said {
  readonly message: string;
  /** Absent where nothing is filled in, since then the message is the template; in older records; and where the words are another's. */
  readonly phrase?: Phrase;
}

/** Tags a template literal as a Said. A test looks for a translation of each in the sources. */
export function say(parts: TemplateStringsArray, ...values: readonly Value[]): Said {
  if (values.length === 0) return { message: parts[0] };
  const filledWith = (fill: (at: number) => string) => parts.reduce((text, part, at) => text + fill(at - 1) + part);
  return {
    message: filledWith((at) => textOf(values[at])),
    phrase: {
      template: filledWith((at) => `{${at}}`),
      values: values.map(recordable),
    },
  };
}

/** As JSON keeps it. */
function recordable(value: Value): Value {
  if (typeof value === 'object') return saidOf(value);
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

const textOf = (value: Value): string => (typeof value === 'object' ? value.message : String(value));

/** Of what holds more: an event, an error. */
export const saidOf = ({ message, phrase }: Said): Said => ({ message, ...(phrase && { phrase }) });
