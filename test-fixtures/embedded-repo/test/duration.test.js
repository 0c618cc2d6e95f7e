import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDuration, parseDuration } from '../src/duration.js';

test('parseDuration reads hours and minutes', () => {
  assert.equal(parseDuration('1h 30m'), 5400);
});

test('parseDuration reads days', () => {
  assert.equal(parseDuration('2d'), 172800);
});

test('parseDuration of other text is null', () => {
  assert.equal(parseDuration('soon'), null);
});

test('formatDuration writes hours, minutes and seconds', () => {
  assert.equal(formatDuration(3725), '1h 2m 5s');
});

test('formatDuration leaves out zeros', () => {
  assert.equal(formatDuration(3600), '1h');
});

test('formatDuration of nothing is 0s', () => {
  assert.equal(formatDuration(0), '0s');
});

test('formatDuration writes a sign', () => {
  assert.equal(formatDuration(-90), '-1m 30s');
});
