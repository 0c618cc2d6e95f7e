import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clamp, progress, roundTo } from '../src/number.js';

test('clamp leaves a value that is inside the range', () => {
  assert.equal(clamp(5, 1, 9), 5);
});

test('clamp raises a value that is too low', () => {
  assert.equal(clamp(-3, 1, 9), 1);
});

test('clamp lowers a value that is too high', () => {
  assert.equal(clamp(12, 1, 9), 9);
});

test('roundTo keeps two decimal places', () => {
  assert.equal(roundTo(3.14159, 2), 3.14);
});

test('roundTo with no places gives a whole number', () => {
  assert.equal(roundTo(7.6, 0), 8);
});

test('progress is a half in the middle', () => {
  assert.equal(progress(15, 10, 20), 0.5);
});

test('progress of an empty range is zero', () => {
  assert.equal(progress(4, 4, 4), 0);
});
