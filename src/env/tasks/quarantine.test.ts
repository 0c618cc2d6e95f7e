import { describe, expect, it } from 'vitest';
import { Quarantine } from './quarantine.js';

describe('Quarantine', () => {
  it('holds a test that wavers where nothing is broken', () => {
    const quarantine = new Quarantine();
    quarantine.noteSound(['b', 'a']);
    expect(quarantine.names).toEqual(['a', 'b']);
  });

  it('holds a test that wavers under two bugs, but not one that wavers under one alone', () => {
    const quarantine = new Quarantine();
    quarantine.noteBroken('bug 1', ['a', 'b']);
    quarantine.noteBroken('bug 1', ['a']);
    expect(quarantine.has('a')).toBe(false);
    quarantine.noteBroken('bug 2', ['a']);
    expect(quarantine.names).toEqual(['a']);
  });
});
