import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyPath } from '../paths.testing.js';
import { fromSideQuery, toSideUri, type SideAddress } from './sideAddress.js';

describe('the address of a side of a patch', () => {
  it('comes back whole, whatever its paths are made of', () => {
    const what = fc.constantFrom('statement', 'start', 'oracle', 'predicted' as const);
    const side = fc.constantFrom('before', 'after' as const);
    fc.assert(
      fc.property(anyPath, anyPath, anyPath, what, side, (root, taskId, file, ...[which, when]) => {
        const address = {
          root,
          taskId,
          runId: 'r',
          trajectoryId: taskId,
          what: which,
          side: when,
          file,
        } as SideAddress;
        const { path, query } = toSideUri(address);
        expect(query).toMatch(/^[\w-]*$/);
        // Two slashes would begin an authority.
        expect(path).toMatch(/^\/(?!\/)/);
        expect(path.endsWith(file.replace(/^\/+/, ''))).toBe(true);
        expect(fromSideQuery(query)).toEqual(address);
      }),
    );
  });

  it('is refused where it is none', () => {
    for (const query of ['', 'nonsense', Buffer.from('["a",1]').toString('base64url')]) {
      expect(() => fromSideQuery(query)).toThrow('names no task');
    }
  });
});
