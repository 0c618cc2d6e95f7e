import { visibleText } from '../trajectory/visibleText.js';

/** A named value as a debugger shows it, with the values inside of it. */
export interface Value {
  readonly name: string;
  /** One line. */
  readonly value: string;
  /** What is copied: the whole of it. */
  readonly whole: string;
  readonly children: readonly Value[];
}

const longestLine = 1000;
const mostChildren = 1000;

/** Any JSON value; a text of several lines has its lines inside. What text of unknown origin spells is shown, not obeyed. */
export function valueOf(name: string, value: unknown): Value {
  const shown = visibleText(name);
  if (typeof value === 'string') {
    const lines = value.split('\n');
    const children = lines.length < 2 ? [] : lines.slice(0, mostChildren).map((line, at) => lineValue(at + 1, line));
    return { name: shown, value: short(JSON.stringify(value)), whole: value, children };
  }
  if (typeof value === 'object' && value !== null) {
    const isList = Array.isArray(value);
    const entries = Object.entries(value).slice(0, mostChildren);
    const children = entries.map(([key, each]) => valueOf(isList ? `[${key}]` : key, each));
    const whole = JSON.stringify(value, null, 2);
    return { name: shown, value: short(JSON.stringify(value)), whole, children };
  }
  const text = typeof value === 'number' ? numberText(value) : String(value);
  return { name: shown, value: text, whole: text, children: [] };
}

/** Values under a name, with words for what they are together. */
export function group(name: string, value: string, children: readonly Value[]): Value {
  const whole = children.map((child) => `${child.name}: ${child.whole}`).join('\n');
  return { name: visibleText(name), value: short(value), whole, children };
}

/** Up to five digits. */
export const numberText = (value: number) => String(Number(value.toPrecision(5)));

const lineValue = (number: number, line: string): Value => ({
  name: String(number),
  value: short(line),
  whole: line,
  children: [],
});

function short(text: string): string {
  return visibleText(text.length > longestLine ? `${text.slice(0, longestLine)}…` : text).replaceAll('\n', ' ');
}
