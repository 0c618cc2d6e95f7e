/** The element type of a tensor. */
export type DType = 'float32' | 'int32' | 'int64' | 'bool';

/**
 * One size of a shape: a number, or a symbol bound when the model runs. Symbols multiply: `length*rows` and
 * `4*length` are sizes too, always written with the number first and the symbols in order.
 */
export type Dim = number | string;
export type Shape = readonly Dim[];

/** Number and symbols whose product the size is. */
export function factors(dim: Dim): { readonly number: number; readonly symbols: readonly string[] } {
  if (typeof dim === 'number') return { number: dim, symbols: [] };
  const parts = dim.split('*');
  const leading = Number(parts[0]);
  return Number.isNaN(leading) ? { number: 1, symbols: parts } : { number: leading, symbols: parts.slice(1) };
}

/** The product of sizes, in the one canonical spelling. */
export function multiplyDims(dims: Shape): Dim {
  let number = 1;
  const symbols: string[] = [];
  for (const dim of dims) {
    const parts = factors(dim);
    number *= parts.number;
    symbols.push(...parts.symbols);
  }
  if (symbols.length === 0 || number === 0) return number;
  symbols.sort();
  return (number === 1 ? symbols : [String(number), ...symbols]).join('*');
}

/** left + sign * right of sizes that are multiples of the same symbols; null for others, whose sum has no spelling. */
export function addDims(left: Dim, right: Dim, sign: 1 | -1 = 1): Dim | null {
  if (right === 0) return left;
  const [a, b] = [factors(left), factors(right)];
  if (left !== 0 && a.symbols.join() !== b.symbols.join()) return null;
  return multiplyDims([(left === 0 ? 0 : a.number) + sign * b.number, ...b.symbols]);
}

/** A part of a size, which must be a multiple of `count`. */
export function divideDim(dim: Dim, count: number): Dim {
  const { number, symbols } = factors(dim);
  if (number % count !== 0) throw new Error(`internal: the size ${dim} is not known to divide by ${count}.`);
  return multiplyDims([number / count, ...symbols]);
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
