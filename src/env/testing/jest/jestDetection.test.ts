import { afterAll, describe, expect, it } from 'vitest';
import { TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { Jest } from './jest.js';

const temporary = new TemporaryFolders();
afterAll(() => temporary.remove());

const detect = async (files: Files) => {
  const tree = await temporary.folder();
  await writeFiles(tree, files);
  return new Jest('node').detect(tree);
};
const found = async (files: Files) => (await detect(files)).map(({ root, testFiles }) => [root, ...testFiles]);
const manifest = (content: object) => ({ 'package.json': JSON.stringify(content) });
const jestScript = { scripts: { test: 'jest' } };
const some: Files = {
  'src/a.js': '',
  'src/a.test.js': '',
  'src/b.spec.tsx': '',
  'src/__tests__/c.mjs': '',
  'test/d.js': '',
  'e2e/f.test.js': '',
};

describe('finding Jest', () => {
  it('takes what it would take for tests itself', async () => {
    expect(await found({ ...some, ...manifest(jestScript) })).toEqual([
      ['.', 'e2e/f.test.js', 'src/__tests__/c.mjs', 'src/a.test.js', 'src/b.spec.tsx'],
    ]);
  });

  it.each<[string, Files, string[]]>([
    ['package.json', manifest({ ...jestScript, jest: { testMatch: ['<rootDir>/test/**/*.js'] } }), ['test/d.js']],
    [
      'jest.config.js',
      {
        ...manifest(jestScript),
        'jest.config.js':
          "module.exports = {\n  // testMatch: ['nothing'],\n  testRegex: '\\\\.test\\\\.js$',\n  testPathIgnorePatterns: ['<rootDir>/e2e/'],\n};",
      },
      ['src/a.test.js'],
    ],
    [
      'the file that the script names',
      {
        ...manifest({ scripts: { test: 'jest --config=unit.json' } }),
        'unit.json': JSON.stringify({ testMatch: ['**/*.spec.tsx'] }),
        'jest.config.ts': "export default { testMatch: ['**/test/*.js'] };",
      },
      ['src/b.spec.tsx'],
    ],
    [
      'roots',
      { ...manifest(jestScript), 'jest.config.json': JSON.stringify({ roots: ['<rootDir>/e2e'] }) },
      ['e2e/f.test.js'],
    ],
    ['the script', manifest({ scripts: { test: 'jest e2e' } }), ['e2e/f.test.js']],
  ])('takes the choice of %s', async (_, files, expected) => {
    expect(await found({ ...some, ...files })).toEqual([['.', ...expected]]);
  });

  it('drives a repository that has a configuration and no script of its own', async () => {
    expect(await found({ ...manifest({}), 'jest.config.cjs': '', 'a.test.js': '' })).toEqual([['.', 'a.test.js']]);
  });

  it('drives each package that starts it, where the root does not', async () => {
    const files = {
      ...manifest({ scripts: { test: 'lerna run test' } }),
      'jest.config.js': 'module.exports = {};',
      'packages/one/package.json': JSON.stringify(jestScript),
      'packages/one/a.test.js': '',
      'packages/two/package.json': JSON.stringify({ ...jestScript, jest: { testRegex: 'check' } }),
      'packages/two/check.js': '',
      'packages/three/package.json': JSON.stringify({ scripts: { test: 'mocha' } }),
      'packages/three/a.test.js': '',
    };
    expect(await found(files)).toEqual([
      ['packages/one', 'packages/one/a.test.js'],
      ['packages/two', 'packages/two/check.js'],
    ]);
  });

  it('drives all projects from the root that lists them', async () => {
    const files = {
      ...manifest({ ...jestScript, jest: { projects: ['<rootDir>/packages/*'] } }),
      'packages/one/package.json': JSON.stringify({ ...jestScript, jest: { testMatch: ['**/*.check.js'] } }),
      'packages/one/a.check.js': '',
      'packages/two/package.json': JSON.stringify(jestScript),
      'packages/two/a.test.js': '',
    };
    expect(await found(files)).toEqual([['.', 'packages/one/a.check.js', 'packages/two/a.test.js']]);
  });

  it.each<[string, Files]>([
    ['no script and no configuration', { ...manifest({ devDependencies: { jest: '30' } }), 'a.test.js': '' }],
    ['no test', { ...manifest(jestScript), 'a.js': '' }],
    ['a package.json that cannot be read', { 'package.json': '{', 'a.test.js': '' }],
  ])('finds nothing where there is %s', async (_, files) => {
    expect(await found(files)).toEqual([]);
  });

  it('says that it drives no other runner in the place of its own', async () => {
    const [{ runner }] = await detect({
      ...manifest({ ...jestScript, jest: { testRunner: 'jest-jasmine2' } }),
      'a.test.js': '',
    });
    expect(runner.check.problem.message).toMatch(/jest-jasmine2/);
  });
});

describe('files that the policy may not change', () => {
  it('are the tests, what sets them up, what is expected, and what Jest transforms and resolves with', async () => {
    const [{ runner }] = await detect({
      ...manifest({
        ...jestScript,
        jest: {
          testRegex: 'verify',
          setupFilesAfterEnv: ['<rootDir>/tools/prepare'],
          testEnvironment: './tools/place.js',
          transform: { '\\.x$': '<rootDir>/tools/change.js' },
          moduleNameMapper: { '^demo$': '<rootDir>/src/index.js' },
        },
      }),
      'src/verify.js': '',
      'tools/prepare.ts': '',
      'tools/place.js': '',
      'tools/change.js': '',
      'tools/other.js': '',
      'src/index.js': '',
    });
    const names = ['src/verify.js', 'tools/prepare.ts', 'tools/place.js', 'tools/change.js', 'package.json']
      .concat(
        'jest.config.mjs',
        'web/jest.setup.ts',
        'src/new.test.tsx',
        'src/__snapshots__/a.snap',
        'src/__mocks__/fs.js',
      )
      .concat(
        'babel.config.js',
        '.babelrc',
        'tsconfig.test.json',
        '.swcrc',
        'packages/a/package.json',
        'src/setupTests.ts',
      );
    expect(names.filter((name) => !runner.isTestFile(name))).toEqual([]);
    const others = ['src/index.js', 'tools/other.js', 'src/jest.js', 'src/latest.js', 'README.md'];
    expect(others.filter((name) => runner.isTestFile(name))).toEqual([]);
  });
});
