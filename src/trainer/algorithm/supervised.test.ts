import { describe, expect, it } from 'vitest';
import { supervisedCoefficients } from './supervised.js';

describe('supervised coefficients', () => {
  it('are -1/N on the imitated tokens and 0 elsewhere', () => {
    expect([...supervisedCoefficients(Uint8Array.of(0, 1, 1, 0), 4)]).toEqual([0, -0.25, -0.25, 0]);
  });
});
