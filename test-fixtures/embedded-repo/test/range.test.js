import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mean, median, range, sum } from '../src/range.js';

test('range counts up to the end', () => {
  assert.deepEqual(range(1, 5), [1, 2, 3, 4]);
});

test('range takes a step', () => {
  assert.deepEqual(range(0, 10, 4), [0, 4, 8]);
});

test('range counts down with a negative step', () => {
  assert.deepEqual(range(5, 0, -2), [5, 3, 1]);
});

test('range refuses a step of zero', () => {
  assert.throws(() => range(0, 1, 0), RangeError);
});

test('sum adds the numbers', () => {
  assert.equal(sum([1, 2, 3]), 6);
});

test('mean divides by the number of items', () => {
  assert.equal(mean([2, 4, 9]), 5);
  assert.equal(mean([]), null);
});

test('median of an odd number of items is the middle one', () => {
  assert.equal(median([9, 1, 5]), 5);
});

test('median of an even number of items is the mean of the middle two', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
});
