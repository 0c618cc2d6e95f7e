import assert from 'node:assert/strict';
import { test } from 'node:test';
import { duration, intersect, mergeIntervals, overlaps } from '../src/interval.js';

const span = (start, end) => ({ start, end });

test('overlaps is true for a shared part', () => {
  assert.equal(overlaps(span(1, 5), span(4, 8)), true);
});

test('overlaps is false for intervals that only touch', () => {
  assert.equal(overlaps(span(1, 4), span(4, 8)), false);
  assert.equal(overlaps(span(4, 8), span(1, 4)), false);
});

test('duration is the distance between the ends', () => {
  assert.equal(duration(span(3, 10)), 7);
  assert.equal(duration(span(5, 2)), 0);
});

test('mergeIntervals joins overlapping intervals', () => {
  assert.deepEqual(mergeIntervals([span(1, 4), span(2, 6), span(8, 9)]), [span(1, 6), span(8, 9)]);
});

test('mergeIntervals joins intervals that touch', () => {
  assert.deepEqual(mergeIntervals([span(3, 5), span(1, 3)]), [span(1, 5)]);
});

test('mergeIntervals keeps an interval inside another', () => {
  assert.deepEqual(mergeIntervals([span(0, 10), span(2, 3)]), [span(0, 10)]);
});

test('intersect gives the shared part', () => {
  assert.deepEqual(intersect(span(1, 5), span(3, 8)), span(3, 5));
  assert.equal(intersect(span(1, 2), span(2, 3)), null);
});
