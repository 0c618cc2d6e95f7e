import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RingQueue } from '../src/queue.js';

function filled(capacity, items) {
  const queue = new RingQueue(capacity);
  for (const item of items) queue.push(item);
  return queue;
}

test('shift gives the oldest item', () => {
  const queue = filled(3, ['a', 'b']);
  assert.equal(queue.shift(), 'a');
  assert.equal(queue.shift(), 'b');
});

test('shift of an empty queue is undefined', () => {
  assert.equal(filled(2, []).shift(), undefined);
});

test('push into a full queue drops the oldest item', () => {
  const queue = filled(2, [1, 2, 3]);
  assert.equal(queue.shift(), 2);
  assert.equal(queue.shift(), 3);
});

test('size counts the items', () => {
  assert.equal(filled(4, [1, 2]).size, 2);
  assert.equal(filled(2, [1, 2, 3]).size, 2);
});

test('full is true at the capacity', () => {
  assert.equal(filled(2, [1]).full, false);
  assert.equal(filled(2, [1, 2]).full, true);
});

test('a queue needs room for one item', () => {
  assert.throws(() => new RingQueue(0), RangeError);
  assert.equal(filled(1, ['x']).size, 1);
});
