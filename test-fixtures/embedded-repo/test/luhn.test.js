import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkDigit, isLuhnValid } from '../src/luhn.js';

test('isLuhnValid accepts a valid number', () => {
  assert.equal(isLuhnValid('4539 3195 0343 6467'), true);
});

test('isLuhnValid refuses a wrong digit', () => {
  assert.equal(isLuhnValid('8273 1232 7352 0569'), false);
});

test('isLuhnValid refuses letters', () => {
  assert.equal(isLuhnValid('12a4'), false);
});

test('isLuhnValid refuses a single digit', () => {
  assert.equal(isLuhnValid('0'), false);
});

test('isLuhnValid accepts two digits', () => {
  assert.equal(isLuhnValid('18'), true);
});

test('checkDigit completes a number', () => {
  assert.equal(checkDigit('7992739871'), 3);
});
