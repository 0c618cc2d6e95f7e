import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLine, parseLine } from '../src/csv.js';

test('parseLine splits at commas', () => {
  assert.deepEqual(parseLine('a,b,c'), ['a', 'b', 'c']);
});

test('parseLine keeps a comma inside quotes', () => {
  assert.deepEqual(parseLine('1,"x, y",2'), ['1', 'x, y', '2']);
});

test('parseLine reads doubled quotes', () => {
  assert.deepEqual(parseLine('"say ""hi"""'), ['say "hi"']);
});

test('parseLine keeps empty cells', () => {
  assert.deepEqual(parseLine(',a,'), ['', 'a', '']);
});

test('formatLine joins plain cells', () => {
  assert.equal(formatLine([1, 'b', true]), '1,b,true');
});

test('formatLine quotes a cell with a comma', () => {
  assert.equal(formatLine(['a,b', 'c']), '"a,b",c');
});

test('formatLine doubles quotes', () => {
  assert.equal(formatLine(['6" nail']), '"6"" nail"');
});
