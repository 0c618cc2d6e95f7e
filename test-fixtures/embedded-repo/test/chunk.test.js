import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunk, pairwise, partition } from '../src/chunk.js';

test('chunk cuts a list into equal pieces', () => {
  assert.deepEqual(chunk([1, 2, 3, 4], 2), [[1, 2], [3, 4]]);
});

test('chunk leaves a shorter piece at the end', () => {
  assert.deepEqual(chunk(['a', 'b', 'c'], 2), [['a', 'b'], ['c']]);
});

test('chunk refuses a size of zero', () => {
  assert.throws(() => chunk([1], 0), RangeError);
});

test('chunk accepts a size of one', () => {
  assert.deepEqual(chunk([7, 8], 1), [[7], [8]]);
});

test('pairwise joins neighbours', () => {
  assert.deepEqual(pairwise([1, 2, 3]), [[1, 2], [2, 3]]);
});

test('pairwise of a single item is empty', () => {
  assert.deepEqual(pairwise([1]), []);
});

test('partition splits by a predicate', () => {
  assert.deepEqual(partition([1, 2, 3, 4], (n) => n % 2 === 0), [[2, 4], [1, 3]]);
});
