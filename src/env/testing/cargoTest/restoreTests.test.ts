import { describe, expect, it } from 'vitest';
import { restoreTests } from './restoreTests.js';

const SOURCE = `//! Clamping.
use std::cmp;

/// Keeps x inside.
pub fn clamp(x: i32, low: i32, high: i32) -> i32 {
    cmp::min(high, cmp::max(low, x))
}

pub struct Range(i32, i32);

impl Range {
    pub fn has(&self, x: i32) -> bool {
        self.0 <= x && x < self.1
    }

    #[cfg(test)]
    fn empty() -> Self {
        Range(0, 0)
    }
}

#[cfg_attr(test, derive(Debug))]
pub struct Other {
    x: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn above() {
        assert_eq!(clamp(9, 0, 5), 5);
    }
}
`;
const restore = (changed: string, original = SOURCE) => restoreTests('src/lib.rs', original, changed);
const BUG = SOURCE.replace('cmp::min(high', 'cmp::max(high');

describe('a changed Rust source', () => {
  it('keeps its changes, and its text where the tests are as they were', () => {
    expect(restore(BUG)).toBe(BUG);
    expect(restore(SOURCE.replace('x: i32,\n}', 'x: i32,\n    y: i32,\n}'))).toContain('y: i32');
    expect(restore(SOURCE.replace('pub struct Range', '#[derive(Clone)]\npub struct Range'))).toContain('Clone');
    expect(restoreTests('README.md', 'a', 'b')).toBe('b');
  });

  it('gets its tests back where they were changed, removed, or made to pass', () => {
    const weakened = BUG.replace('assert_eq!(clamp(9, 0, 5), 5)', 'clamp(9, 0, 5)');
    const removed = BUG.slice(0, BUG.indexOf('#[cfg(test)]\nmod tests'));
    const ignored = BUG.replace('#[test]', '#[test]\n    #[ignore]');
    const renamed = BUG.replace('#[cfg(test)]\nmod tests', '#[cfg(any())]\nmod tests');
    for (const text of [weakened, removed, ignored, renamed]) {
      const restored = restore(text);
      expect(restored).toContain('max(high');
      expect(restored).toContain(SOURCE.slice(SOURCE.indexOf('#[cfg(test)]\nmod tests')).trimEnd());
      expect(restored).not.toContain('#[ignore]');
    }
  });

  it('loses what it brings for tests alone', () => {
    const added = `${BUG}\n#[cfg(test)]\npub fn clamp2() -> i32 {\n    5\n}\n\n#[test]\nfn more() {}\n`;
    const restored = restore(added);
    expect(restored?.includes('clamp2') || restored?.includes('fn more')).toBe(false);
    const split = BUG.replace(
      '/// Keeps',
      '#[cfg(test)]\npub fn clamp(_: i32, _: i32, _: i32) -> i32 { 5 }\n\n/// Keeps',
    );
    expect(restore(split)).not.toContain('{ 5 }');
    const inBody = BUG.replace(
      'fn empty() -> Self {\n        Range(0, 0)',
      'fn empty() -> Self {\n        Range(0, 9)',
    );
    expect(restore(inBody)).toContain('Range(0, 0)');
  });

  it.each<[string, (text: string) => string]>([
    ['does not parse', (text) => text.replace('pub fn clamp(', 'pub fn clamp((')],
    ['has a function for all but tests', (text) => text.replace('pub fn clamp', '#[cfg(not(test))]\npub fn clamp')],
    ['asks whether it is tested', (text) => text.replace('    cmp::', '    if cfg!(test) { return 5; }\n    cmp::')],
    [
      'has a statement for tests',
      (text) => text.replace('    cmp::', '    #[cfg(test)]\n    return 5;\n    #[allow(unused)]\n    cmp::'),
    ],
    ['is another crate under test', (text) => `#![cfg_attr(test, allow(unused))]\n${text}`],
    ['asks with a macro', (text) => `${text}\nmacro_rules! both { ($($x:item)*) => { $(#[cfg(not(test))] $x)* } }\n`],
    ['passes test to a macro', (text) => `${text}\ncfg_if! { if #[cfg(test)] { fn a() {} } else { fn a() {} } }\n`],
    ['runs before main', (text) => `${text}\n#[link_section = ".init_array"]\nstatic A: fn() = a;\n`],
    ['stands for the C library', (text) => `${text}\n#[no_mangle]\npub extern "C" fn exit(_: i32) {}\n`],
    ['stands for it in edition 2024', (text) => `${text}\n#[unsafe(no_mangle)]\npub extern "C" fn exit(_: i32) {}\n`],
    ['includes other text', (text) => `${text}\ninclude!("more.txt");\n`],
    [
      'has an assertion of its own',
      (text) => text.replace('use std::cmp', 'macro_rules! assert_eq { ($($x:tt)*) => {} }\nuse std::cmp'),
    ],
    [
      'has a panic of its own',
      (text) => text.replace('use std::cmp', 'macro_rules! panic { ($($x:tt)*) => { return } }\nuse std::cmp'),
    ],
    ['renames an assertion', (text) => `${text}\npub use crate::nothing as assert_eq;\n`],
    ['makes an assertion with a macro', (text) => `${text}\nmake!(assert_eq);\n`],
    ['lacks the place of a test', (text) => text.replace('impl Range {', 'impl Ranges {')],
  ])('is not graded where it %s', (_, change) => {
    expect(change(BUG)).not.toBe(BUG);
    expect(restore(change(BUG))).toBeNull();
  });

  it('may go on with what the original has of that kind', () => {
    const special = `${SOURCE}\n#[cfg(not(test))]\nfn log() {}\n\nfn f() -> bool { cfg!(test) }\n`;
    const changed = special.replace('cmp::min(high', 'cmp::max(high');
    expect(restore(changed, special)).toBe(changed);
    expect(restore(special.replace('fn log() {}', 'fn log() { panic!() }'), special)).toBeNull();
    expect(restore(SOURCE.replace('    cmp::', '    std::panic::catch_unwind(|| ()).ok();\n    cmp::'))).not.toBeNull();
  });
});
