import { describe, expect, it } from 'vitest';
import { seatbeltProfile } from './seatbelt.js';

describe("seatbelt's profile", () => {
  const lines = seatbeltProfile(['/private/tmp/a "quoted" \\ tree'], ['/Users/me/.nvm']).split('\n');

  it('denies the network and writing, then allows the given folders again, since the last rule counts', () => {
    const at = (start: string) => lines.findIndex((line) => line.startsWith(start));
    expect(at('(deny network*)')).toBeGreaterThan(0);
    expect(at('(allow file-write*')).toBeGreaterThan(at('(deny file-write*)'));
    expect(at('(allow file-read*')).toBeGreaterThan(at('(deny file-read-data'));
    expect(lines.find((line) => line.startsWith('(allow file-read*'))).toContain('(subpath "/Users/me/.nvm")');
    expect(lines.filter((line) => line.startsWith('(allow file-write*')).join('')).not.toContain('/Users/me/.nvm');
  });

  it('keeps a path with quotes one string', () => {
    expect(lines.join('\n')).toContain('(subpath "/private/tmp/a \\"quoted\\" \\\\ tree")');
  });
});
