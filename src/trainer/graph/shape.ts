/** The element type of a tensor. */
export type DType = 'float32' | 'float16' | 'int32' | 'int64' | 'bool';

export const isFloat = (dtype: DType): boolean => dtype === 'float32' || dtype === 'float16';

/**
 * One size of a shape: a number, or a sum of products of symbols that are bound when the model runs. There is one spelling
 * of each: `length*rows`, `4*length`, `4*block+past`, with the number first in a product and products and symbols in order.
 */
export type Dim = number | string;
export type Shape = readonly Dim[];

/** One product of a size. */
export interface Term {
  readonly number: number;
  readonly symbols: readonly string[];
}

/** The products whose sum the size is; none for 0. */
export function terms(dim: Dim): Term[] {
  if (typeof dim === 'number') return dim === 0 ? [] : [{ number: dim, symbols: [] }];
  return dim.split('+').map((product) => {
    const parts = product.split('*');
    const leading = Number(parts[0]);
    return Number.isNaN(leading) ? { number: 1, symbols: parts } : { number: leading, symbols: parts.slice(1) };
  });
}

/** The size that products add up to, in its one spelling. */
function spell(all: readonly Term[]): Dim {
  const numbers = new Map<string, number>();
  for (const { number, symbols } of all) {
    const key = [...symbols].sort().join('*');
    numbers.set(key, (numbers.get(key) ?? 0) + number);
  }
  const products = [...numbers].filter(([, number]) => number !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  if (products.length === 0) return 0;
  if (products.length === 1 && products[0][0] === '') return products[0][1];
  const spellProduct = ([symbols, number]: [string, number]) => {
    if (symbols === '') return String(number);
    return number === 1 ? symbols : `${number}*${symbols}`;
  };
  return products.map(spellProduct).join('+');
}

export function multiplyDims(dims: Shape): Dim {
  const times = (left: readonly Term[], right: readonly Term[]) =>
    left.flatMap((a) => right.map((b) => ({ number: a.number * b.number, symbols: [...a.symbols, ...b.symbols] })));
  return spell(dims.map(terms).reduce(times, [{ number: 1, symbols: [] }]));
}

/** left + sign * right. */
export function addDims(left: Dim, right: Dim, sign: 1 | -1 = 1): Dim {
  return spell([...terms(left), ...terms(right).map(({ number, symbols }) => ({ number: sign * number, symbols }))]);
}

/** Whether a size is known to be at least 0, whatever its symbols are. */
export const isNotNegative = (dim: Dim): boolean => terms(dim).every(({ number }) => number > 0);

/** A part of a size, which must be a multiple of `count`. */
export function divideDim(dim: Dim, count: number): Dim {
  const all = terms(dim);
  if (all.some(({ number }) => number % count !== 0)) {
    throw new Error(`internal: the size ${dim} is not known to divide by ${count}.`);
  }
  return spell(all.map(({ number, symbols }) => ({ number: number / count, symbols })));
}

export const sameShape = (left: Shape, right: Shape): boolean =>
  left.length === right.length && left.every((dim, axis) => dim === right[axis]);

export const showShape = (shape: Shape): string => `[${shape.join(', ')}]`;

/** The shape that two shapes broadcast to by NumPy's rule, or null. A symbol matches itself and 1. */
export function broadcastShapes(left: Shape, right: Shape): Dim[] | null {
  const rank = Math.max(left.length, right.length);
  const result: Dim[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const a = left[left.length - rank + axis] ?? 1;
    const b = right[right.length - rank + axis] ?? 1;
    if (a !== b && a !== 1 && b !== 1) return null;
    result.push(a === 1 ? b : a);
  }
  return result;
}
