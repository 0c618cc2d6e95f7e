import { expect, it } from 'vitest';
import { informativeGroups } from './dynamicSampling.js';

it('dynamic sampling keeps the groups whose known rewards differ, compared exactly', () => {
  const groups = [[1, 1], [0, 1], [0.3, 0.1 + 0.2], [null, 0.7], [], [null, 0, 1], [0, 0, null]];
  expect(informativeGroups(groups)).toEqual([1, 2, 5]);
});
