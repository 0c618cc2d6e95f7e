import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultsOfRun, type ResultsContext } from './configuredResults.js';

const recorded = path.join(import.meta.dirname, '../../../../test-fixtures/runner-output');

/** A line a test, of what a tool wrote when it had failed. */
async function results(name: string, context: Partial<ResultsContext> & Pick<ResultsContext, 'testFiles'>) {
  const format = name.startsWith('tap/') ? 'tap' : 'junit';
  const documents = [await readFile(path.join(recorded, name), 'utf8')];
  const found = resultsOfRun({ file: null, exitCode: 1, documents }, format, { root: '.', tree: '/tree', ...context });
  return found
    ?.map(({ file, path: names, status, message }) =>
      [`${status} ${[file, ...names].join(' > ')}`, ...message.split('\n')].filter((row) => row !== '').join('\n  '),
    )
    .join('\n');
}

describe('results of a configured command', () => {
  it('belong to the file that they name, from the root of the run', async () => {
    expect(await results('junit/pytest.xml', { root: 'a', testFiles: ['a/test_kinds.py', 'b/test_kinds.py'] }))
      .toMatchInlineSnapshot(`
      "passed a/test_kinds.py > test_passes
      failed a/test_kinds.py > test_fails
        assert 'a <b> & "c"' == ''
          + a <b> & "c"
        >   def test_fails(): assert 'a <b> & "c"' == ''
                              ^^^^^^^^^^^^^^^^^^^^^^^^^^
        at a/test_kinds.py:3
      failed a/test_kinds.py > test_breaks
        failed on setup with "ValueError: fixture"
        @pytest.fixture
        >   def broken(): raise ValueError('fixture')
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        at a/test_kinds.py:5
      skipped a/test_kinds.py > test_skipped
      skipped a/test_kinds.py > test_known
      passed a/test_kinds.py > test_each[1]
      passed a/test_kinds.py > test_each[\\xfcn\\xef \\u65e5\\u672c]
      passed a/test_kinds.py > TestIn > test_deep"
    `);
    expect(
      await results('junit/jest-junit.xml', {
        testFiles: ['kinds.test.js', 'broken.test.js'],
        tree: '/tmp/recorded/jest',
      }),
    ).toMatchInlineSnapshot(`
      "passed kinds.test.js > outer inner passes
      failed kinds.test.js > outer fails
        Error: expect(received).toBe(expected) // Object.is equality
        Expected: "c"
        Received: "a <b>"
        at kinds.test.js:3
      skipped kinds.test.js > outer is skipped
      passed kinds.test.js > outer is to be written
      passed kinds.test.js > outer each 1
      passed kinds.test.js > outer each ünï
      failed broken.test.js > Test suite failed to run > broken.test.js
          ● Test suite failed to run
            > 1 | throw new Error('at load');
                |       ^
              2 |
        at broken.test.js:1
      failed broken.test.js > Test suite failed to run > broken.test.js
        {}"
    `);
  });

  it('belong to the file that has the name of their class or suite', async () => {
    const testFiles = ['src/test/java/demo/KindsTest.java', 'src/test/java/other/KindsTest.java'];
    expect(await results('junit/surefire.xml', { testFiles: [...testFiles].reverse() })).toMatchInlineSnapshot(`
      "failed src/test/java/demo/KindsTest.java > breaks
        no
        java.lang.IllegalStateException: no
      passed src/test/java/demo/KindsTest.java > passes
      passed src/test/java/demo/KindsTest.java > each(String)[1]
      passed src/test/java/demo/KindsTest.java > each(String)[2]
      failed src/test/java/demo/KindsTest.java > fails
        expected: <a <b>> but was: <c>
        org.opentest4j.AssertionFailedError: expected: <a <b>> but was: <c>
      skipped src/test/java/demo/KindsTest.java > skipped"
    `);
    expect(await results('junit/bats.xml', { testFiles: ['a/other.bats', 'a/kinds.bats'] })).toMatchInlineSnapshot(`
      "passed a/kinds.bats > passes
      failed a/kinds.bats > fails
        (in test file kinds.bats, line 2)
          \`@test "fails" { echo "said so"; false; }' failed
        said so
      skipped a/kinds.bats > is skipped"
    `);
  });

  it('belong to the first test file where they name none', async () => {
    expect(await results('junit/cargo-nextest.xml', { testFiles: ['tests/a.rs', 'tests/b.rs'] }))
      .toMatchInlineSnapshot(`
      "passed tests/a.rs > demo > tests::passes
      passed tests/a.rs > demo > tests::wavers
      failed tests/a.rs > demo > tests::fails
        thread 'tests::fails' panicked at src/lib.rs:4:26
        assertion \`left == right\` failed
          left: "a <b>"
         right: "c"
        at src/lib.rs:4"
    `);
    expect(await results('tap/node24.tap', { testFiles: ['kinds.test.mjs'], tree: '/tmp/recorded/node_' }))
      .toMatchInlineSnapshot(`
        "passed kinds.test.mjs > outer > inner > passes
        failed kinds.test.mjs > outer > fails
          error:
            Expected values to be strictly equal:
            'a' !== 'b'
          name: 'AssertionError'
          at kinds.test.mjs:5
        passed kinds.test.mjs > outer > # hash \\ back
        skipped kinds.test.mjs > is skipped
        skipped kinds.test.mjs > some day
        failed kinds.test.mjs > parts
          error: 'after its parts'
          at kinds.test.mjs:10
        passed kinds.test.mjs > parts > one"
      `);
  });

  it('are a failure of the file where the command for it left none, and nothing where it was for several', () => {
    const context = { root: '.', tree: '/tree', testFiles: ['a.t', 'b.t'] };
    const of = (file: string | null, exitCode: number | null, document: string) =>
      resultsOfRun({ file, exitCode, documents: [document] }, 'tap', context);
    expect(of('b.t', 1, 'TAP version 13')).toEqual([
      {
        file: 'b.t',
        path: [],
        status: 'failed',
        message: 'The command ended with exit code 1 before its results were complete.',
      },
    ]);
    expect(of('b.t', null, '1..1\nok 1 - a')?.[0].message).toBe(
      'The command was ended before its results were complete.',
    );
    expect(of(null, 1, 'TAP version 13')).toBeNull();
    expect(of(null, null, '1..1\nok 1 - a')).toBeNull();
  });
});
