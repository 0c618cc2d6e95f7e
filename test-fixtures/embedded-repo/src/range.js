/** Numbers from start up to (and without) end. */
export function range(start, end, step = 1) {
  if (step === 0) throw new RangeError('step must not be zero');
  const numbers = [];
  if (step > 0) {
    for (let number = start; number < end; number += step) numbers.push(number);
  } else {
    for (let number = start; number > end; number += step) numbers.push(number);
  }
  return numbers;
}

/** Sum of the numbers. */
export function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Mean of the numbers; of none it is null. */
export function mean(numbers) {
  if (numbers.length === 0) return null;
  return sum(numbers) / numbers.length;
}

/** The middle number, or the mean of the middle two. */
export function median(numbers) {
  if (numbers.length === 0) return null;
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}
