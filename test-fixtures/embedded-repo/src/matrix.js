/** A matrix of zeros with ones on its diagonal. */
export function identity(size) {
  return Array.from({ length: size }, (_, row) =>
    Array.from({ length: size }, (_, column) => (row === column ? 1 : 0)),
  );
}

/** Rows become columns. */
export function transpose(matrix) {
  return matrix[0].map((_, column) => matrix.map((row) => row[column]));
}

/** The product of two matrices. */
export function multiply(left, right) {
  if (left[0].length !== right.length) throw new RangeError('shapes do not fit');
  return left.map((row) =>
    right[0].map((_, column) => {
      let sum = 0;
      for (let k = 0; k < row.length; k += 1) {
        sum += row[k] * right[k][column];
      }
      return sum;
    }),
  );
}

/** The sum of the diagonal. */
export function trace(matrix) {
  let sum = 0;
  for (let k = 0; k < matrix.length; k += 1) {
    sum += matrix[k][k];
  }
  return sum;
}
