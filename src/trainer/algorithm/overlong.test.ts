import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { overlongPenalty } from './overlong.js';

it('a trajectory is punished in the buffer before the limit, softly, and fully beyond', () => {
  const penalties = [0, 80, 85, 90, 100, 101, 200].map((length) => overlongPenalty(length, 100, 20));
  expect(penalties).toEqual([0, 0, -0.25, -0.5, -1, -1, -1]);
});

it("the punishment equals TRL's (scripts/golden/overlong.py)", () => {
  const cases = JSON.parse(
    readFileSync(path.join(import.meta.dirname, 'golden', 'overlong.json'), 'utf8'),
  ) as readonly { most: number; buffer: number; lengths: readonly number[]; penalties: readonly number[] }[];
  for (const { most, buffer, lengths, penalties } of cases) {
    lengths.forEach((length, index) => expect(overlongPenalty(length, most, buffer)).toBeCloseTo(penalties[index], 12));
  }
});
