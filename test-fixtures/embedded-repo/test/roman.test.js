import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromRoman, toRoman } from '../src/roman.js';

test('toRoman writes small numbers', () => {
  assert.equal(toRoman(3), 'III');
  assert.equal(toRoman(9), 'IX');
});

test('toRoman writes a year', () => {
  assert.equal(toRoman(1994), 'MCMXCIV');
});

test('toRoman refuses zero', () => {
  assert.throws(() => toRoman(0), RangeError);
});

test('toRoman accepts the largest number', () => {
  assert.equal(toRoman(3999), 'MMMCMXCIX');
});

test('fromRoman reads a year', () => {
  assert.equal(fromRoman('MMXXVI'), 2026);
});

test('fromRoman of other text is not a number', () => {
  assert.equal(fromRoman('XYZ'), NaN);
});
