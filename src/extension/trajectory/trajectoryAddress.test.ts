import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WhetstoneError } from '../../trajectory/errors.js';
import { fromUriQuery, toUriParts } from './trajectoryAddress.js';

describe('the address of a trajectory', () => {
  it('comes back whole, whatever characters its paths hold', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(text, text, text, (stateFolder, runId, trajectoryId) => {
        const { path, query } = toUriParts({ stateFolder, runId, trajectoryId });
        expect(query).toMatch(/^[\w-]*$/);
        expect(path).toMatch(/^\/[^/?#%]*$/);
        expect(fromUriQuery(query)).toEqual({ stateFolder, runId, trajectoryId });
      }),
    );
  });

  it('refuses what it did not make', () => {
    for (const query of ['', 'nonsense', Buffer.from('["a","b"]').toString('base64url')]) {
      expect(() => fromUriQuery(query)).toThrow(WhetstoneError);
    }
  });
});
