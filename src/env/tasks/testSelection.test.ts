import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFilesMentioning } from './testSelection.js';

const TESTS = {
  'test/range.test.js': "import { range } from '../src/range.js';",
  'test/arrange.test.js': "import { arrange } from '../src/arrange.js';",
  'test/all.test.js': "import * as all from '../src/range.js';",
};
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'whetstone-tests-'));
  mkdirSync(join(folder, 'test'));
  for (const [path, text] of Object.entries(TESTS)) writeFileSync(join(folder, path), text);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('testFilesMentioning', () => {
  const choose = (...changed: string[]) => testFilesMentioning(folder, Object.keys(TESTS), changed);

  it('takes those that name the module, as a whole word', async () => {
    expect(await choose('src/range.js')).toEqual(['test/range.test.js', 'test/all.test.js']);
  });
  it('goes by the folder for an index file', async () => {
    expect(await choose('src/arrange/index.js')).toEqual(['test/arrange.test.js']);
  });
  it('takes all where none does', async () => {
    expect(await choose('src/hidden.js')).toEqual(Object.keys(TESTS));
  });
});
