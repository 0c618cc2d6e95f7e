/** The JSON object or list that starts at `start`, by its brackets outside strings; null where it has no end. */
export function jsonAt(text: string, start: number): { readonly text: string; readonly end: number } | null {
  if (text[start] !== '{' && text[start] !== '[') return null;
  let depth = 0;
  let inString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (inString) {
      if (character === '\\') i++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0)
      return { text: text.slice(start, i + 1), end: i + 1 };
  }
  return null;
}

/** Index of the first character from `start` on that is no white space; the text's length where there is none. */
export function skipBlank(text: string, start: number): number {
  let index = start;
  while (index < text.length && /\s/.test(text[index]!)) index++;
  return index;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/** JSON with a space after `:` and `,` outside strings, as Python and Jinja write it. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${spacedJson(item)}`);
  return `{${entries.join(', ')}}`;
}

/** A call out of its JSON, whose arguments stand under one of `keys`; a string says what is wrong. */
export function callOf(
  value: unknown,
  keys: readonly string[],
): { readonly name: string; readonly arguments: Readonly<Record<string, unknown>>; readonly id?: string } | string {
  if (!isRecord(value) || typeof value.name !== 'string') return 'the call has no "name"';
  const key = keys.find((candidate) => candidate in value) ?? keys[0]!;
  const args = value[key];
  if (!isRecord(args)) return `the call has no "${keys[0]}" object`;
  return { name: value.name, arguments: args, ...(typeof value.id === 'string' ? { id: value.id } : {}) };
}
