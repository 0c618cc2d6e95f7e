import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Bag } from '../src/bag.js';

test('count tells how often an item was added', () => {
  assert.equal(new Bag(['a', 'b', 'a']).count('a'), 2);
});

test('count of an unknown item is zero', () => {
  assert.equal(new Bag().count('x'), 0);
});

test('add takes a number of times', () => {
  assert.equal(new Bag().add('x', 3).add('x').count('x'), 4);
});

test('remove takes one item away', () => {
  const bag = new Bag(['a', 'a']);
  assert.equal(bag.remove('a'), true);
  assert.equal(bag.count('a'), 1);
});

test('remove of an unknown item is false', () => {
  assert.equal(new Bag(['a']).remove('b'), false);
});

test('total adds all counts', () => {
  assert.equal(new Bag(['a', 'b', 'a']).total, 3);
});

test('mostCommon sorts by frequency', () => {
  assert.deepEqual(new Bag(['x', 'y', 'y', 'z', 'z', 'z']).mostCommon(2), ['z', 'y']);
});
