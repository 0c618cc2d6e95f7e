import { expect, it } from 'vitest';
import { overlongPenalty } from './overlong.js';

it('a trajectory is punished in the buffer before the limit, softly, and fully beyond', () => {
  const penalties = [0, 80, 85, 90, 100, 101, 200].map((length) => overlongPenalty(length, 100, 20));
  expect(penalties).toEqual([0, 0, -0.25, -0.5, -1, -1, -1]);
});
