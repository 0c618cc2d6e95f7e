import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, latest, parseVersion } from '../src/version.js';

test('parseVersion reads the numbers', () => {
  assert.deepEqual(parseVersion('1.20.3'), { numbers: [1, 20, 3], tag: null });
});

test('parseVersion reads a tag', () => {
  assert.equal(parseVersion('2.0.0-beta').tag, 'beta');
});

test('parseVersion refuses other text', () => {
  assert.throws(() => parseVersion('1.2'), SyntaxError);
});

test('compareVersions compares numbers, not text', () => {
  assert.ok(compareVersions('1.10.0', '1.9.0') > 0);
  assert.ok(compareVersions('1.2.3', '2.0.0') < 0);
});

test('compareVersions of equal versions is zero', () => {
  assert.equal(compareVersions('1.2.3', '1.2.3'), 0);
});

test('compareVersions puts a tag before the release', () => {
  assert.equal(compareVersions('1.0.0-rc', '1.0.0'), -1);
  assert.equal(compareVersions('1.0.0', '1.0.0-rc'), 1);
});

test('compareVersions sorts tags by name', () => {
  assert.equal(compareVersions('1.0.0-alpha', '1.0.0-beta'), -1);
});

test('latest finds the newest version', () => {
  assert.equal(latest(['1.0.0', '1.3.0', '1.2.9']), '1.3.0');
});
