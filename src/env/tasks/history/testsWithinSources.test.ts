import { describe, expect, it } from 'vitest';
import { restoreTests } from '../../testing/cargoTest/restoreTests.js';
import { splitTests } from './testsWithinSources.js';

const source = (body: string, tests: string) =>
  `pub fn one() -> u32 {\n    ${body}\n}\n\n#[cfg(test)]\nmod tests {\n${tests}}\n`;
const test = (name: string, wanted: string) =>
  `    #[test]\n    fn ${name}() {\n        assert_eq!(${wanted}, super::one());\n    }\n`;
const path = 'src/lib.rs';

describe('splitTests', () => {
  it("puts the commit's tests into the start, and leaves the rest to the oracle", () => {
    const before = source('2', test('is_one', '2'));
    const after = source('1', test('is_one', '1') + test('is_no_zero', '1'));
    const start = source('2', test('is_one', '1') + test('is_no_zero', '1'));
    expect(splitTests([{ path, before, after }], restoreTests)).toEqual({
      tests: [{ path, before, after: start }],
      oracle: [{ path, before: start, after }],
    });
  });

  it('has nothing for the oracle in a source of which only the tests change', () => {
    const before = source('1', test('is_one', '2'));
    const after = source('1', test('is_one', '1'));
    expect(splitTests([{ path, before, after }], restoreTests)).toEqual({
      tests: [{ path, before, after }],
      oracle: [],
    });
  });

  it('leaves sources without tests, new files and deleted ones to the oracle', () => {
    const changes = [
      { path, before: 'pub fn one() -> u32 {\n    2\n}\n', after: 'pub fn one() -> u32 {\n    1\n}\n' },
      { path: 'src/two.rs', before: null, after: 'pub fn two() -> u32 {\n    2\n}\n' },
      { path: 'src/old.rs', before: source('1', test('is_one', '1')), after: null },
      { path: 'src/a.js', before: 'a;\n', after: 'b;\n', executable: true },
    ];
    expect(splitTests(changes, restoreTests)).toEqual({ tests: [], oracle: changes });
  });

  it('refuses what grading would not take as it is: a new source with tests, and code that is compiled otherwise for tests', () => {
    const withTests = source('1', test('is_one', '1'));
    expect(splitTests([{ path, before: null, after: withTests }], restoreTests)).toBeNull();
    const before = 'pub fn one() -> u32 {\n    2\n}\n';
    const after = '#[cfg(not(test))]\npub fn one() -> u32 {\n    1\n}\n';
    expect(splitTests([{ path, before, after }], restoreTests)).toBeNull();
  });
});
