import assert from 'node:assert/strict';
import { test } from 'node:test';
import { camelCase, slugify, uniqueSlug } from '../src/slug.js';

test('slugify joins words with hyphens', () => {
  assert.equal(slugify('Hello, World!'), 'hello-world');
});

test('slugify removes accents', () => {
  assert.equal(slugify('Crème Brûlée'), 'creme-brulee');
});

test('slugify of punctuation is empty', () => {
  assert.equal(slugify('?!'), '');
});

test('camelCase joins words with capitals', () => {
  assert.equal(camelCase('some long name'), 'someLongName');
});

test('uniqueSlug keeps a free name', () => {
  assert.equal(uniqueSlug('News', ['old']), 'news');
});

test('uniqueSlug counts upwards', () => {
  assert.equal(uniqueSlug('News', ['news']), 'news-2');
  assert.equal(uniqueSlug('News', ['news', 'news-2']), 'news-3');
});
