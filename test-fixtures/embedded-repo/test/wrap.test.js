import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indent, truncate, wrap } from '../src/wrap.js';

test('wrap breaks between words', () => {
  assert.deepEqual(wrap('the quick brown fox', 10), ['the quick', 'brown fox']);
});

test('wrap fills a line to its width', () => {
  assert.deepEqual(wrap('aa bb cc', 5), ['aa bb', 'cc']);
});

test('wrap of no text gives no lines', () => {
  assert.deepEqual(wrap('', 10), []);
});

test('truncate leaves short text', () => {
  assert.equal(truncate('short', 5), 'short');
});

test('truncate ends long text with an ellipsis', () => {
  assert.equal(truncate('a long story', 7), 'a long…');
});

test('indent moves every line', () => {
  assert.equal(indent('a\nb', 2), '  a\n  b');
});

test('indent leaves empty lines', () => {
  assert.equal(indent('a\n\nb', 1), ' a\n\n b');
});
