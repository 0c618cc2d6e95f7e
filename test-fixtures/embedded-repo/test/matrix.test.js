import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identity, multiply, trace, transpose } from '../src/matrix.js';

test('identity has ones on its diagonal', () => {
  assert.deepEqual(identity(2), [[1, 0], [0, 1]]);
});

test('transpose turns rows into columns', () => {
  assert.deepEqual(transpose([[1, 2, 3], [4, 5, 6]]), [[1, 4], [2, 5], [3, 6]]);
});

test('multiply gives the product', () => {
  assert.deepEqual(multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]), [[19, 22], [43, 50]]);
});

test('multiply refuses shapes that do not fit', () => {
  assert.throws(() => multiply([[1, 2]], [[1, 2]]), RangeError);
});

test('multiply by the identity changes nothing', () => {
  assert.deepEqual(multiply([[2, 3], [4, 5]], identity(2)), [[2, 3], [4, 5]]);
});

test('trace adds the diagonal', () => {
  assert.equal(trace([[1, 9], [9, 5]]), 6);
});
