import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import type { Baseline } from '../baseline.js';
import { rankTests, testsForCommit, TestSelector } from './testSelector.js';

const files: Files = {
  'src/range.js': 'export const range = 1;',
  'src/hidden.js': '',
  'src/all.js': "export * from './range.js';",
  'test/all.test.js': "import '../src/all.js';",
  'test/mention.test.js': "import { range } from '../src/range.js';",
  'test/range.test.js': "import { range } from '../src/range.js';",
  'test/arrange.test.js': "import { arrange } from '../src/arrange.js';",
};
const testFiles = Object.keys(files).filter((file) => file.startsWith('test/'));
const temporary = new TemporaryFolders();
let folder = '';
beforeAll(async () => {
  folder = await temporary.folder();
  await writeFiles(folder, files);
});
afterAll(() => temporary.remove());

/** Each test file has some passing tests. */
function baselineOf(durationMs: number, passing = 2): Baseline {
  const results = testFiles.flatMap((file) =>
    Array.from({ length: passing }, (_, index) => ({
      id: `${file} > ${index}`,
      file,
      name: String(index),
      status: 'passed' as const,
      message: '',
    })),
  );
  const report = { outcome: 'completed' as const, results, output: '', durationMs };
  return { reports: [report], testFiles, flaky: [], durationMs, leftOut: [] };
}
const choose = async (baseline: Baseline, gradingMs: number, ...changed: string[]) =>
  (await TestSelector.of(folder, Object.keys(files), baseline, gradingMs)).filesFor(changed);

describe('TestSelector', () => {
  it('takes the whole suite where that is fast', async () => {
    expect(await choose(baselineOf(1000), 3000, 'src/range.js')).toEqual(testFiles);
  });

  it('else takes those that load the file, the closest first, as many as the time allows', async () => {
    expect(await choose(baselineOf(4000), 3000, 'src/range.js')).toEqual([
      'test/all.test.js',
      'test/mention.test.js',
      'test/range.test.js',
    ]);
    expect(await choose(baselineOf(4000), 1000, 'src/range.js')).toEqual(['test/range.test.js']);
  });

  it('takes first those that are known to notice something, and ten times as many to find that out', async () => {
    const selector = await TestSelector.of(folder, Object.keys(files), baselineOf(40_000), 3000);
    expect(await selector.filesFor(['src/range.js'])).toEqual(['test/range.test.js']);
    expect(await selector.filesFor(['src/range.js'], ['test/arrange.test.js'])).toEqual(['test/arrange.test.js']);
    expect(await selector.filesToScout(['src/range.js'])).toEqual([
      'test/all.test.js',
      'test/mention.test.js',
      'test/range.test.js',
    ]);
  });

  it('takes so many that more than one test passes', async () => {
    expect(await choose(baselineOf(4000, 1), 1000, 'src/range.js')).toEqual([
      'test/mention.test.js',
      'test/range.test.js',
    ]);
  });

  it('takes any where imports say nothing', async () => {
    expect(await choose(baselineOf(4000), 2000, 'src/hidden.js')).toEqual(['test/all.test.js', 'test/arrange.test.js']);
  });
});

describe('rankTests', () => {
  it('goes by the name, then by mention, as whole words', async () => {
    expect(await rankTests(folder, testFiles, ['src/range.js'])).toEqual([
      'test/range.test.js',
      'test/mention.test.js',
      'test/all.test.js',
      'test/arrange.test.js',
    ]);
  });
  it('goes by the folder for an index file', async () => {
    expect((await rankTests(folder, testFiles, ['src/arrange/index.js']))[0]).toBe('test/arrange.test.js');
  });
});

describe('testsForCommit', () => {
  const commit = { sourceFiles: ['src/range.js'], testFiles: ['test/all.test.js', 'test/arrange.test.js'] };
  it('takes those that the commit changes, whatever the time', async () => {
    expect(await testsForCommit(folder, testFiles, commit, baselineOf(4000), 1)).toEqual(commit.testFiles);
  });
  it('takes others as the time allows', async () => {
    expect(await testsForCommit(folder, testFiles, commit, baselineOf(4000), 3000)).toEqual([
      'test/all.test.js',
      'test/arrange.test.js',
      'test/range.test.js',
    ]);
  });
});
