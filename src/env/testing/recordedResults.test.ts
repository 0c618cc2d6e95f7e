import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseJUnitXml } from './junitXml.js';
import { parseTap } from './tap.js';

/** What `record.sh` recorded there. */
const recorded = path.join(import.meta.dirname, '../../../test-fixtures/runner-output');
const read = (name: string) => readFile(path.join(recorded, name), 'utf8');

describe('JUnit XML as tools write it', () => {
  const brief = async (name: string) =>
    parseJUnitXml(await read(`junit/${name}.xml`))?.map((test) => {
      const words = [test.file ?? '-', test.suites.join(' / '), test.className, test.name].join(' | ');
      return `${test.status}${test.flaky ? ' (flaky)' : ''} ${words}`;
    });

  it.each<[string, string[]]>([
    [
      'pytest',
      [
        'passed test_kinds.py | pytest | test_kinds | test_passes',
        'failed test_kinds.py | pytest | test_kinds | test_fails',
        'failed test_kinds.py | pytest | test_kinds | test_breaks',
        'skipped test_kinds.py | pytest | test_kinds | test_skipped',
        'skipped test_kinds.py | pytest | test_kinds | test_known',
        'passed test_kinds.py | pytest | test_kinds | test_each[1]',
        'passed test_kinds.py | pytest | test_kinds | test_each[\\xfcn\\xef \\u65e5\\u672c]',
        'passed test_kinds.py | pytest | test_kinds.TestIn | test_deep',
      ],
    ],
    [
      'surefire',
      [
        'failed - | demo.KindsTest | demo.KindsTest | breaks',
        'passed - | demo.KindsTest | demo.KindsTest | passes',
        'passed - | demo.KindsTest | demo.KindsTest | each(String)[1]',
        'passed - | demo.KindsTest | demo.KindsTest | each(String)[2]',
        'failed - | demo.KindsTest | demo.KindsTest | fails',
        'skipped - | demo.KindsTest | demo.KindsTest | skipped',
      ],
    ],
    [
      'gradle',
      [
        'failed - | demo.KindsTest | demo.KindsTest | breaks',
        'passed - | demo.KindsTest | demo.KindsTest | passes',
        'failed - | demo.KindsTest | demo.KindsTest | fails',
        'skipped - | demo.KindsTest | demo.KindsTest | skipped',
      ],
    ],
    [
      'jest-junit',
      [
        'passed kinds.test.js | outer | outer inner passes | outer inner passes',
        'failed kinds.test.js | outer | outer fails | outer fails',
        'skipped kinds.test.js | outer | outer is skipped | outer is skipped',
        'passed kinds.test.js | outer | outer is to be written | outer is to be written',
        'passed kinds.test.js | outer | outer each 1 | outer each 1',
        'passed kinds.test.js | outer | outer each ünï | outer each ünï',
        'failed broken.test.js | broken.test.js | Test suite failed to run | broken.test.js',
        'failed broken.test.js | broken.test.js | Test suite failed to run | broken.test.js',
      ],
    ],
    [
      'gotestsum',
      [
        'failed - | example.org/demo | example.org/demo | TestFails',
        'failed - | example.org/demo | example.org/demo | TestParts/ünï/日本',
        'failed - | example.org/demo | example.org/demo | TestParts',
        'failed - | example.org/demo | example.org/demo | TestPanics',
        'skipped - | example.org/demo | example.org/demo | TestSkipped',
        'passed - | example.org/demo | example.org/demo | TestPasses',
        'passed - | example.org/demo | example.org/demo | TestParts/one_part',
        'failed - | example.org/demo/broken |  | TestMain',
      ],
    ],
    [
      'cargo-nextest',
      [
        'passed - | demo | demo | tests::passes',
        'passed (flaky) - | demo | demo | tests::wavers',
        'failed - | demo | demo | tests::fails',
      ],
    ],
    [
      'ctest',
      [
        'passed - | (empty) | passes | passes',
        'failed - | (empty) | fails | fails',
        'skipped - | (empty) | is_off | is_off',
        'skipped - | (empty) | is_missing | is_missing',
        'skipped - | (empty) | is_skipped | is_skipped',
      ],
    ],
    [
      'bats',
      [
        'passed - | kinds.bats | kinds.bats | passes',
        'failed - | kinds.bats | kinds.bats | fails',
        'skipped - | kinds.bats | kinds.bats | is skipped',
      ],
    ],
  ])('of %s gives each test', async (name, expected) => {
    expect(await brief(name)).toEqual(expected);
  });

  it.each(['pytest', 'surefire', 'gradle', 'jest-junit', 'gotestsum', 'cargo-nextest', 'ctest', 'bats'])(
    'of %s gives nothing where it is cut off anywhere',
    async (name) => {
      const text = (await read(`junit/${name}.xml`)).trimEnd();
      for (let end = 1; end < text.length; end += 37) expect(parseJUnitXml(text.slice(0, end))).toBeNull();
    },
  );
});

describe('TAP as tools write it', () => {
  const brief = async (name: string) =>
    parseTap(await read(`tap/${name}.tap`))?.map(({ status, path: names }) => `${status} ${names.join(' > ')}`);

  it.each<[string, string[]]>([
    [
      'node20',
      [
        'passed outer > inner > passes',
        'failed outer > fails',
        'passed outer > # hash \\ back',
        'skipped is skipped',
        'skipped some day',
        'failed parts',
        'passed parts > one',
      ],
    ],
    [
      'node24',
      [
        'passed outer > inner > passes',
        'failed outer > fails',
        'passed outer > # hash \\ back',
        'skipped is skipped',
        'skipped some day',
        'failed parts',
        'passed parts > one',
      ],
    ],
    [
      'tape',
      [
        'passed clamps > should be strictly equal',
        'failed clamps > is one',
        'skipped skips one > not here',
        'skipped TODO some day > not yet',
        'passed deep > in it',
      ],
    ],
    [
      'libtap',
      [
        'passed outer > inner > passes',
        'failed outer > fails',
        'passed buffered > in braces',
        'skipped is skipped',
        'skipped some day',
        'passed a # hash',
      ],
    ],
    ['bats', ['passed passes', 'failed fails', 'skipped is skipped']],
    [
      'perl',
      [
        'passed passes',
        'failed fails',
        'skipped test 3',
        'skipped is to do',
        'passed outer > first',
        'passed outer > inner > deep',
      ],
    ],
  ])('of %s gives each test', async (name, expected) => {
    expect(await brief(name)).toEqual(expected);
  });
});
