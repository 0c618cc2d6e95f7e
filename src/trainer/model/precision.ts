/** In what a model's matrices are kept and multiplied. Everything that adds up many numbers is float32 in both. */
export const precisions = ['float32', 'float16'] as const;
export type Precision = (typeof precisions)[number];

/** The type of a parameter of this shape: norms and biases stay float32. */
export const typeOf = (shape: readonly number[], precision: Precision): Precision =>
  shape.length === 2 ? precision : 'float32';
