import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyPath } from '../paths.testing.js';
import { fromFileUriQuery, toFileUriParts } from './replayFileAddress.js';

describe('the address of a file of a replay', () => {
  it('comes back whole, whatever characters its name holds', () => {
    const place = fc.oneof(fc.nat(), fc.constant('oracle' as const));
    const text = anyPath;
    fc.assert(
      fc.property(text, place, text, (sessionId, at, file) => {
        const { path, query } = toFileUriParts({ sessionId, place: at, path: file });
        expect(query).toMatch(/^[\w-]*$/);
        // A path of two slashes would begin an authority.
        expect(path).toMatch(/^\/(?![/\\])/);
        expect(fromFileUriQuery(query)).toEqual({ sessionId, place: at, path: file });
      }),
    );
  });

  it('keeps the name, so that the language is known', () => {
    for (const name of ['src/a b#1.ts', '100%.py', 'é/中.go', 'c:\\x.js']) {
      expect(toFileUriParts({ sessionId: 's', place: 1, path: name }).path).toBe(`/${name}`);
    }
  });

  it('refuses what it did not make', () => {
    for (const query of ['', 'nonsense', Buffer.from('["a",true,"b"]').toString('base64url')]) {
      expect(fromFileUriQuery(query)).toBeUndefined();
    }
  });
});
