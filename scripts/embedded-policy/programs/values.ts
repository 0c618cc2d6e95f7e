import { invented, NOUNS } from './names.js';
import type { Rng } from './rng.js';

/** A value that both JavaScript and Python can write. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** The names of a module's record fields. */
export interface Fields {
  readonly name: string;
  readonly num: string;
  readonly qty: string;
}

const word = (rng: Rng) => (rng.chance(0.3) ? invented(rng) : rng.pick(NOUNS));
const list = (rng: Rng, low: number, high: number, make: () => Value) =>
  Array.from({ length: rng.int(low, high) }, make);
const KEYS = ['a', 'b', 'x', 'y', 'red', 'blue', 'one', 'two'];

/** A random value of a kind that a template's parameter asks for. `constants` are the function's own, worth testing near. */
export function valueOf(rng: Rng, kind: string, fields: Fields, constants: readonly number[]): Value {
  const near = () => (constants.length > 0 ? rng.pick(constants) + rng.int(-1, 1) : rng.int(0, 9));
  switch (kind) {
    case 'int':
      return rng.chance(0.35) ? near() : rng.int(-6, 20);
    case 'pos':
      return rng.chance(0.45) ? Math.max(0, near()) : rng.int(0, 30);
    case 'pos1':
      return rng.int(1, 9);
    case 'small':
      return rng.int(0, 6);
    case 'tiny':
      return rng.int(1, 3);
    case 'cap':
      return rng.int(1, 3);
    case 'big':
      return rng.int(8, 30);
    case 'size':
      return rng.int(2, 9);
    case 'large':
      return rng.int(0, 2500);
    case 'year':
      return rng.pick([1900, 2000, 2023, 2024, 2100, 1996, 2400, rng.int(1800, 2200)]);
    case 'bool':
      return rng.chance(0.5);
    case 'ints':
      return list(rng, rng.chance(0.1) ? 0 : 1, 5, () => rng.int(-3, 12));
    case 'smalls':
      return list(rng, 1, 4, () => rng.int(0, 6));
    case 'bits':
      return list(rng, 3, 7, () => rng.int(0, 1));
    case 'sorted':
      return list(rng, 1, 5, () => rng.int(0, 15)).sort((a, b) => (a as number) - (b as number));
    case 'grid': {
      const width = rng.int(1, 3);
      return list(rng, 1, 3, () => list(rng, width, width, () => rng.int(0, 9)));
    }
    case 'word':
      return word(rng);
    case 'words': {
      const pool = [word(rng), word(rng), word(rng)];
      return list(rng, 1, 4, () => (rng.chance(0.6) ? rng.pick(pool) : word(rng)));
    }
    case 'text':
      return list(rng, 1, 3, () => word(rng)).join(' ');
    case 'mixed':
      return [...word(rng)].map((letter) => (rng.chance(0.4) ? letter.toUpperCase() : letter)).join('');
    case 'char':
      return rng.pick([...'aeiorstn']);
    case 'palin': {
      const half = word(rng).slice(0, 3);
      return rng.chance(0.6) ? half + [...half].reverse().join('') : word(rng);
    }
    case 'runs':
      return list(rng, 1, 3, () => rng.pick([...'abcxyz']).repeat(rng.int(1, 3))).join('');
    case 'clock':
      return `${String(rng.int(0, 23))}:${String(rng.int(0, 65)).padStart(2, '0')}`;
    case 'brackets':
      return rng.pick(['()', '(())', '(()', ')(', '(a(b)c)', '', '((()))', 'x', '()()']);
    case 'query':
      return list(rng, 1, 3, () => (rng.chance(0.85) ? `${rng.pick(KEYS)}=${word(rng)}` : word(rng))).join('&');
    case 'state':
      return rng.pick(['idle', 'running', 'paused', 'unknown', 'done']);
    case 'password':
      return (
        (rng.chance(0.7) ? rng.pick(['A', 'K', 'Z']) : '') + word(rng) + (rng.chance(0.7) ? String(rng.int(1, 99)) : '')
      );
    case 'key':
      return rng.pick(KEYS);
    case 'obj': {
      const keys = rng.shuffle(KEYS).slice(0, rng.int(1, 3));
      return Object.fromEntries(keys.map((key) => [key, rng.int(0, 9)]));
    }
    case 'recname':
      return rng.pick(KEYS);
    case 'recs':
      return list(rng, 1, 3, () => ({
        [fields.name]: rng.pick(KEYS),
        [fields.num]: rng.int(0, 15),
        [fields.qty]: rng.int(0, 4),
      }));
    default:
      throw new Error(`internal: no values of the kind ${kind}`);
  }
}

/** TypeScript's type of a kind of values. */
export function typeOf(kind: string, fields: Fields): string {
  if (/^(ints|smalls|bits|sorted)$/.test(kind)) return 'number[]';
  if (kind === 'grid') return 'number[][]';
  if (kind === 'words') return 'string[]';
  if (kind === 'bool') return 'boolean';
  if (kind === 'obj') return 'Record<string, number>';
  if (kind === 'recs') return `{ ${fields.name}: string; ${fields.num}: number; ${fields.qty}: number }[]`;
  if (/^(word|text|mixed|char|palin|runs|clock|brackets|query|state|password|key|recname)$/.test(kind)) return 'string';
  return 'number';
}

/** A value as JavaScript writes it. */
export function javascriptLiteral(value: Value): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value === 'string')
    return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
  if (Array.isArray(value)) return `[${value.map(javascriptLiteral).join(', ')}]`;
  const entries = Object.entries(value).map(
    ([key, item]) => `${/^[A-Za-z_]\w*$/.test(key) ? key : `'${key}'`}: ${javascriptLiteral(item)}`,
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** A value as Python writes it. */
export function pythonLiteral(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)}: ${pythonLiteral(item)}`)
    .join(', ')}}`;
}
