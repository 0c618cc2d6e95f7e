import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { say, type Said } from '../../../trajectory/said.js';
import { buildJanitor, digest, TemporaryFolders, writeFiles, type Files } from '../../fixtureRepository.testing.js';
import { openEnvironment } from '../../openEnvironment.js';
import { bubblewrapProblem } from '../../sandbox/bubblewrap.js';
import { measureBaseline } from '../baseline.js';
import { treePaths } from '../treePaths.js';
import { isOutOfReach, outOfReach, proveReach, type Reach } from './proveReach.js';

const run = promisify(execFile);
const temporary = new TemporaryFolders();
const hasSandbox = (await bubblewrapProblem()) === null;
let janitorScript = '';
beforeAll(async () => {
  janitorScript = await buildJanitor(await temporary.folder());
});
afterAll(() => temporary.remove());

async function prove(folder: string, sandbox: 'bubblewrap' | 'unconfined'): Promise<Reach[]> {
  const environment = await openEnvironment({ path: folder, sandbox, janitorScript });
  try {
    const baseline = await measureBaseline(environment, { times: 1, timeoutMs: 60_000, concurrency: 1 });
    return await proveReach(environment, baseline, await treePaths(environment), { timeoutMs: 60_000 });
  } finally {
    await environment.dispose();
  }
}

const nodeTest = (imported: string, name: string) =>
  [
    "import test from 'node:test';",
    "import assert from 'node:assert/strict';",
    `import { ${name} } from '${imported}';`,
    `test('${name}', () => assert.equal(${name}(), 1));`,
    '',
  ].join('\n');
const workspaces: Files = {
  '.gitignore': 'node_modules\n.venv\n',
  'package.json': JSON.stringify({ name: 'root', private: true, type: 'module', workspaces: ['packages/*'] }),
  'packages/a/package.json': JSON.stringify({ name: '@x/a', type: 'module', exports: './src/index.js' }),
  'packages/a/src/index.js': 'export const a = () => 1;\n',
  'packages/b/package.json': JSON.stringify({ name: '@x/b', type: 'module', dependencies: { '@x/a': '*' } }),
  'packages/b/src/index.js': "import { a } from '@x/a';\nexport const b = () => a();\n",
  'packages/b/test/b.test.js': nodeTest('../src/index.js', 'b'),
};
const withOwnTests: Files = { ...workspaces, 'packages/a/test/a.test.js': nodeTest('../src/index.js', 'a') };

/** As `npm install` leaves it: the packages linked below the root's node_modules. */
async function npmWorkspace(files: Files): Promise<string> {
  const folder = await temporary.repository(files, 'npm \'w" é');
  await mkdir(path.join(folder, 'node_modules', '@x'), { recursive: true });
  await symlink(path.join('..', '..', 'packages', 'a'), path.join(folder, 'node_modules', '@x', 'a'));
  await symlink(path.join('..', '..', 'packages', 'b'), path.join(folder, 'node_modules', '@x', 'b'));
  return folder;
}
/** As `pnpm install` leaves it: each package links those that it needs. */
async function pnpmWorkspace(files: Files): Promise<string> {
  const folder = await temporary.repository(files);
  const scope = path.join(folder, 'packages', 'b', 'node_modules', '@x');
  await mkdir(scope, { recursive: true });
  await symlink(path.join('..', '..', '..', 'a'), path.join(scope, 'a'));
  return folder;
}

const reached = (folder: string) => ({ folder, reaches: true, reason: null });

describe('proveReach', { timeout: 120_000 }, () => {
  describe.skipIf(!hasSandbox)('in a sandbox, where the worktree stands in the place of the repository', () => {
    it.each([
      ['npm', npmWorkspace],
      ['pnpm', pnpmWorkspace],
    ])('finds that links of a workspace of %s lead into the worktree', async (_name, make) => {
      const folder = await make(workspaces);
      const before = await digest(folder);
      expect(await prove(folder, 'bubblewrap')).toEqual([reached('packages/a'), reached('packages/b')]);
      expect(await digest(folder)).toEqual(before);
    });

    it('finds an installed copy, which a change of the sources does not reach', async () => {
      const folder = await temporary.repository(workspaces);
      await mkdir(path.join(folder, 'node_modules', '@x'), { recursive: true });
      await cp(path.join(folder, 'packages', 'a'), path.join(folder, 'node_modules', '@x', 'a'), { recursive: true });
      expect(await prove(folder, 'bubblewrap')).toEqual([
        {
          folder: 'packages/a',
          reaches: false,
          reason: expect.objectContaining({
            message:
              'A change of packages/a does not reach the tests: they load @x/a from node_modules/@x/a, an installed copy; link it, as npm workspaces do.',
          }) as Said,
        },
        reached('packages/b'),
      ]);
    });

    it('finds that an editable install leads into the worktree, and that an installed copy does not', async () => {
      const editable = await pythonRepository();
      await writeFiles(editable.sitePackages, { '__editable__.demo.pth': path.join(editable.folder, 'python') });
      expect(await prove(editable.folder, 'bubblewrap')).toEqual([reached('.')]);

      const copy = await pythonRepository();
      await cp(path.join(copy.folder, 'python'), copy.sitePackages, { recursive: true });
      const [{ reaches, reason }] = await prove(copy.folder, 'bubblewrap');
      expect(reaches).toBe(false);
      expect(reason?.message).toMatch(
        /they load demo from \S+site-packages\/demo\/__init__\.py, an installed copy; install it with `pip install --editable \.`\.$/,
      );
    });
  });

  it('finds that without a sandbox links lead to the files of the user', async () => {
    const folder = await npmWorkspace(workspaces);
    const [a, b] = await prove(folder, 'unconfined');
    expect(b).toEqual(reached('packages/b'));
    expect(a).toMatchObject({ folder: 'packages/a', reaches: false });
    expect(a.reason?.message).toContain(`they load @x/a from ${path.join(folder, 'packages', 'a')}, your own file`);
  });

  it('names the other packages whose tests load the files of the user, where its own tests do not', async () => {
    const folder = await npmWorkspace(withOwnTests);
    const [a] = await prove(folder, 'unconfined');
    expect(a).toMatchObject({ folder: 'packages/a', reaches: true });
    expect(a.reason?.message).toMatch(/^The tests of packages\/b load @x\/a from .*, your own file/);
  });

  it('finds tests that load what is built', async () => {
    const folder = await temporary.repository({
      'package.json': JSON.stringify({ name: 'demo', type: 'module', main: 'dist/index.js' }),
      'src/index.js': 'export const one = () => 1;\n',
      'dist/index.js': 'export const one = () => 1;\n',
      'test/one.test.js': nodeTest('../dist/index.js', 'one'),
    });
    expect(await prove(folder, hasSandbox ? 'bubblewrap' : 'unconfined')).toEqual([
      {
        folder: '.',
        reaches: false,
        reason: expect.objectContaining({
          message:
            'A change of the repository does not reach the tests: they load dist/index.js, which is built and not built again before they run.',
        }) as Said,
      },
    ]);
  });
});

/** A flat package in a folder that pytest does not find by itself, and a virtual environment of the repository's own. */
async function pythonRepository() {
  const folder = await temporary.repository({
    '.gitignore': '.venv\n',
    'pyproject.toml': '[project]\nname = "demo"\nversion = "1"\n[tool.pytest.ini_options]\n',
    'python/demo/__init__.py': 'def one():\n    return 1\n',
    'tests/test_one.py': 'from demo import one\n\ndef test_one():\n    assert one() == 1\n',
  });
  const sitePackages = await virtualEnvironment(folder);
  return { folder, sitePackages };
}

/** Made by hand, with pytest from the Python around it, since installing would need a network. */
async function virtualEnvironment(folder: string): Promise<string> {
  const venv = path.join(folder, '.venv');
  await run('python3', ['-m', 'venv', '--system-site-packages', '--without-pip', venv]);
  const question = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  return (await run(path.join(venv, 'bin', 'python'), ['-c', question])).stdout.trim();
}

describe('isOutOfReach', () => {
  const reach: Reach[] = [
    { folder: '.', reaches: true, reason: null },
    { folder: 'packages/a', reaches: false, reason: { message: 'Why.' } },
  ];
  it('goes by the innermost package', () => {
    expect(isOutOfReach(reach, 'packages/a/src/x.js')).toBe(true);
    expect(isOutOfReach(reach, 'packages/ab/src/x.js')).toBe(false);
    expect(isOutOfReach([], 'x.js')).toBe(false);
  });
});

describe('outOfReach', () => {
  it('is one line', () => {
    expect(
      outOfReach([{ folder: '.', reaches: false, reason: say`No test of ${say`the repository`} loads its sources.` }])
        .line,
    ).toBe('No test of the repository loads its sources. Let the tests load the sources of the tree that they lie in.');
  });
});
