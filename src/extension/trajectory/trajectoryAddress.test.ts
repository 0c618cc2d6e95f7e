import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyPath } from '../paths.testing.js';
import { WhetstoneError } from '../../trajectory/errors.js';
import { fromUriQuery, toUriParts } from './trajectoryAddress.js';

describe('the address of a trajectory', () => {
  it('comes back whole, whatever characters its paths hold', () => {
    const text = anyPath;
    fc.assert(
      fc.property(text, text, text, (stateFolder, runId, trajectoryId) => {
        const { path, query } = toUriParts({ stateFolder, runId, trajectoryId });
        expect(query).toMatch(/^[\w-]*$/);
        expect(path).toMatch(/^\/[^/?#%]*$/);
        expect(fromUriQuery(query)).toEqual({ stateFolder, runId, trajectoryId });
      }),
    );
  });

  it('comes back whole from the folders that paths trip over', () => {
    const folders = [
      'C:\\Users\\Zoë 中\\#1 50%\\.whetstone',
      '\\\\server\\share\\a repo\\.whetstone',
      '\\\\?\\C:\\long\\.whetstone',
      "/home/it's/100%25 #2?x=1&y=2/.whetstone",
      '/home/a\nline/.whetstone',
    ];
    for (const stateFolder of folders) {
      const address = { stateFolder, runId: '2026-11-01T10-00-00', trajectoryId: 'step-000001/a task/0' };
      const { path, query } = toUriParts(address);
      expect(fromUriQuery(query)).toEqual(address);
      expect(path).toBe('/step-000001 a task 0.trajectory');
    }
  });

  it('has a title of bounded length, in whole characters', () => {
    for (const trajectoryId of ['a'.repeat(1e6), '𠮷'.repeat(1e5), `a${'𠮷'.repeat(1e5)}`]) {
      const address = { stateFolder: '/s', runId: 'r', trajectoryId };
      const { path, query } = toUriParts(address);
      expect(Array.from(path).length).toBeLessThan(220);
      expect(() => encodeURIComponent(path)).not.toThrow();
      expect(fromUriQuery(query)).toEqual(address);
    }
  });

  it('refuses what it did not make', () => {
    for (const query of ['', 'nonsense', Buffer.from('["a","b"]').toString('base64url')]) {
      expect(() => fromUriQuery(query)).toThrow(WhetstoneError);
    }
  });
});
