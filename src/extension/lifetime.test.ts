import { describe, expect, it } from 'vitest';
import { Lifetime } from './lifetime.js';

describe('a lifetime', () => {
  it('disposes of what it holds once, the last first, and of late comers at once', () => {
    const disposed: string[] = [];
    const item = (name: string) => ({ dispose: () => disposed.push(name) });
    const lifetime = new Lifetime('test');
    lifetime.add(item('first'));
    const child = lifetime.child('inner');
    child.add(item('inner'));
    lifetime.add(item('last'));
    lifetime.dispose();
    lifetime.dispose();
    expect(disposed).toEqual(['last', 'inner', 'first']);
    child.add(item('late'));
    expect(disposed.at(-1)).toBe('late');
  });

  it('forgets a child that ended before it', () => {
    const disposed: string[] = [];
    const lifetime = new Lifetime('test');
    const child = lifetime.child('inner');
    child.add({ dispose: () => disposed.push('inner') });
    child.dispose();
    lifetime.dispose();
    expect(disposed).toEqual(['inner']);
  });
});
