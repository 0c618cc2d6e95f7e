import { appendFile, chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WhetstoneError } from '../trajectory/errors.js';
import type { RepositoryEnvironment } from './environment.js';
import {
  buildJanitor,
  digest,
  nodeProject,
  pythonProject,
  runGit,
  TemporaryFolders,
  writeFiles,
  type Files,
} from './fixtureRepository.testing.js';
import { openEnvironment } from './openEnvironment.js';
import { bubblewrapProblem } from './sandbox/bubblewrap.js';
import type { SandboxKind } from './sandbox/sandbox.js';

const temporary = new TemporaryFolders();
let janitorScript = '';
const isConfinable = (await bubblewrapProblem()) === null;
const sandboxes: SandboxKind[] = isConfinable ? ['bubblewrap', 'unconfined'] : ['unconfined'];

beforeAll(async () => {
  janitorScript = await buildJanitor(await temporary.folder());
});
afterAll(() => temporary.remove());

const open = (folder: string, sandbox: SandboxKind = sandboxes[0]) =>
  openEnvironment({ path: folder, sandbox, janitorScript });

async function inEnvironment<T>(
  folder: string,
  sandbox: SandboxKind,
  use: (environment: RepositoryEnvironment) => Promise<T>,
) {
  const environment = await open(folder, sandbox);
  try {
    return await use(environment);
  } finally {
    await environment.dispose();
  }
}

const shell = (text: string) => ({ argv: ['/bin/sh', '-c', text], timeoutMs: 30_000, maxOutputBytes: 10_000 });

/** Repositories in states that a careless tool damages. */
const difficult: Record<string, () => Promise<string>> = {
  'a dirty tree': async () => {
    const folder = await temporary.repository(nodeProject);
    await appendFile(path.join(folder, 'src/clamp.js'), '// staged\n');
    await runGit(folder, 'add', '--all');
    await appendFile(path.join(folder, 'src/clamp.js'), '// not staged\n');
    await writeFiles(folder, { 'untracked.js': '1\n' });
    await runGit(folder, 'stash', 'push', '--quiet', '--include-untracked');
    await appendFile(path.join(folder, 'src/clamp.js'), '// dirty\n');
    await writeFiles(folder, { 'new file.js': '2\n' });
    return folder;
  },
  'a detached HEAD': async () => {
    const folder = await temporary.repository(nodeProject);
    await writeFiles(folder, { 'later.js': '1\n' });
    await runGit(folder, 'add', '--all');
    await runGit(folder, 'commit', '--quiet', '--message=Later');
    await runGit(folder, 'checkout', '--quiet', '--detach', 'HEAD~1');
    return folder;
  },
  'a shallow clone': async () => {
    const origin = await temporary.repository(nodeProject);
    await writeFiles(origin, { 'later.js': '1\n' });
    await runGit(origin, 'add', '--all');
    await runGit(origin, 'commit', '--quiet', '--message=Later');
    const folder = path.join(await temporary.folder(), 'clone');
    await runGit(path.dirname(folder), 'clone', '--quiet', '--depth=1', pathToFileURL(origin).href, folder);
    return folder;
  },
  'a submodule': async () => {
    const library = await temporary.repository({ 'index.js': 'export const one = 1;\n' });
    const folder = await temporary.repository({
      ...nodeProject,
      'test/library.test.js': [
        "import test from 'node:test';",
        "import assert from 'node:assert/strict';",
        "import { one } from '../library/index.js';",
        "test('has the submodule', () => assert.equal(one, 1));",
        '',
      ].join('\n'),
    });
    await runGit(folder, 'submodule', '--quiet', 'add', library, 'library');
    await runGit(folder, 'commit', '--quiet', '--message=Library');
    return folder;
  },
  'a linked worktree': async () => {
    const main = await temporary.repository(nodeProject);
    const folder = path.join(path.dirname(main), 'linked');
    await runGit(main, 'worktree', 'add', '--quiet', folder);
    return folder;
  },
  'a path with spaces, quotes and letters of other alphabets': () =>
    temporary.repository(nodeProject, `it's "ünï" $HOME 日本`),
  'a sha256 repository': async () => {
    const folder = await temporary.folder();
    await writeFiles(folder, nodeProject);
    await runGit(folder, 'init', '--quiet', '--object-format=sha256');
    await runGit(folder, 'add', '--all');
    await runGit(folder, 'commit', '--quiet', '--message=First');
    return folder;
  },
};

describe.each(sandboxes)('an environment in the sandbox %s', (sandbox) => {
  it.each(Object.keys(difficult))(
    'runs the tests of %s and leaves the folder byte for byte as it was',
    async (name) => {
      const folder = await difficult[name]();
      const before = await digest(folder);
      await inEnvironment(folder, sandbox, async (environment) => {
        const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
        const report = await workspace.runTests();
        expect(report.outcome, report.output).toBe('completed');
        expect(report.results.map((result) => result.status)).not.toContain('failed');
        expect(report.results.map((result) => result.id)).toContain('test/clamp.test.js > clamps above');
        await workspace.run(shell('rm -rf .git src; git add -A; git commit -m x; git stash; echo x > new.js'));
        await workspace.dispose();
        expect(await readdir(path.join(environment.stateFolder, 'worktrees'))).toEqual([]);
      });
      expect(await digest(folder)).toEqual(before);
      expect(await runGit(folder, 'status', '--porcelain')).not.toContain('.whetstone');
    },
  );

  it('runs pytest and tells why a test failed', async () => {
    const folder = await temporary.repository(pythonProject);
    await inEnvironment(folder, sandbox, async (environment) => {
      const bug = { path: 'demo/clamp.py', before: null, after: 'def clamp(x, low, high):\n    return max(low, x)\n' };
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '', [bug]);
      const report = await workspace.runTests();
      expect(report.results.map(({ id, status, message }) => ({ id, status, message }))).toEqual([
        {
          id: 'tests/test_clamp.py > test_clamp[9-5]',
          status: 'failed',
          message: 'assert 9 == 5\n +  where 9 = clamp(9, 0, 5)\nat tests/test_clamp.py:6',
        },
        { id: 'tests/test_clamp.py > test_clamp[3-3]', status: 'passed', message: '' },
      ]);
    });
  });

  it('lays a start patch into the only commit, so that git shows neither the patch nor what was before', async () => {
    const folder = await temporary.repository(nodeProject);
    await inEnvironment(folder, sandbox, async (environment) => {
      const patch = [
        '--- a/src/clamp.js',
        '+++ b/src/clamp.js',
        '@@ -1,2 +1,2 @@',
        ' export const clamp = (x, low, high) =>',
        '-  Math.min(high, Math.max(low, x));',
        '+  Math.min(high + 1, Math.max(low, x));',
        '',
      ].join('\n');
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, patch);
      const { output } = await workspace.run(
        shell(
          'git status --short; git diff; git log --all --format=%s; git reflog; git remote; git cat-file --batch-all-objects --batch',
        ),
      );
      expect(output).toContain('Start');
      expect(output).toContain('high + 1');
      expect(output).not.toContain('min(high,');
      expect(await workspace.changes()).toEqual([]);
      const report = await workspace.runTests();
      expect(report.results.find((result) => result.name === 'clamps above')).toMatchObject({
        status: 'failed',
        message: 'Expected values to be strictly equal: 6 !== 5 (expected 5, actual 6)\nat test/clamp.test.js:4',
      });
    });
  });

  it('shows installed dependencies that git ignores, and leaves them out of the changes', async () => {
    const folder = await temporary.repository({
      ...nodeProject,
      '.gitignore': 'node_modules\n',
      'test/dependency.test.js':
        "import test from 'node:test';\nimport two from 'two';\ntest('two', () => { if (two !== 2) throw new Error(); });\n",
    });
    await writeFiles(folder, {
      'node_modules/two/package.json': '{"name":"two","type":"module","main":"index.js"}',
      'node_modules/two/index.js': 'export default 2;\n',
    });
    await inEnvironment(folder, sandbox, async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
      const report = await workspace.runTests();
      expect(report.results.map((result) => result.status)).toEqual(['passed', 'passed', 'passed']);
      expect(await workspace.changes()).toEqual([]);
    });
  });

  it('tells a run out of time, a run without tests and a crash apart', async () => {
    const folder = await temporary.repository(nodeProject);
    await inEnvironment(folder, sandbox, async (environment) => {
      const hang = { path: 'test/clamp.test.js', before: null, after: "import 'node:test'; for (;;);\n" };
      const hanging = await environment.openWorkspaceFromTree(environment.baseTree, '', [hang]);
      expect((await hanging.runTests({ timeoutMs: 2000 })).outcome).toBe('timed-out');
      const gone = { path: 'test/clamp.test.js', before: '', after: null };
      const empty = await environment.openWorkspaceFromTree(environment.baseTree, '', [gone]);
      expect((await empty.runTests()).outcome).toBe('no-tests');
      const fatal = { path: 'test/clamp.test.js', before: null, after: 'process.kill(process.ppid, "SIGKILL");\n' };
      const crashing = await environment.openWorkspaceFromTree(environment.baseTree, '', [fatal]);
      expect((await crashing.runTests()).outcome).toBe('crashed');
    });
  });

  it('lays changes over a tree: a program stays one, and a link does not lead outside', async () => {
    const folder = await temporary.repository(nodeProject);
    const outside = await temporary.folder();
    await writeFile(path.join(folder, 'run.sh'), '#!/bin/sh\necho one\n', { mode: 0o755 });
    await symlink(outside, path.join(folder, 'link'));
    await inEnvironment(folder, sandbox, async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '', [
        { path: 'run.sh', before: null, after: '#!/bin/sh\necho two\n' },
        { path: 'link/a.txt', before: null, after: 'a\n' },
      ]);
      expect((await workspace.run(shell('./run.sh; cat link/a.txt'))).output).toBe('two\na\n');
      expect(await readdir(outside)).toEqual([]);
    });
  });

  it('ends the commands that still run when it is disposed of', async () => {
    const folder = await temporary.repository(nodeProject);
    await inEnvironment(folder, sandbox, async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
      const running = workspace.run({ ...shell('sleep 600'), timeoutMs: 600_000 });
      await environment.dispose();
      expect((await running).outcome).toBe('cancelled');
      expect(await readdir(path.join(environment.stateFolder, 'worktrees'))).toEqual([]);
    });
  });

  it('gives the same template to those who ask for it at the same time', async () => {
    const folder = await temporary.repository(nodeProject);
    await inEnvironment(folder, sandbox, async (environment) => {
      await rm(path.join(environment.stateFolder, 'cache'), { recursive: true });
      const workspaces = await Promise.all(
        [1, 2, 3, 4].map(() => environment.openWorkspaceFromTree(environment.baseTree, '')),
      );
      expect(new Set(workspaces.map((workspace) => workspace.root)).size).toBe(4);
      expect(await readdir(path.join(environment.stateFolder, 'cache', 'trees'))).toHaveLength(1);
    });
  });
});

describe('changes of a workspace', () => {
  it('are text files only, whatever an agent plants beside them', async () => {
    const folder = await temporary.repository({ ...nodeProject, '.gitignore': 'build/\n', 'keep/a.txt': 'a\n' });
    await inEnvironment(folder, 'unconfined', async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
      await rm(path.join(workspace.root, '.git'), { recursive: true });
      await writeFiles(workspace.root, {
        'src/clamp.js': 'changed\n',
        'src/new.js': 'new\n',
        'build/out.js': 'ignored by the base tree\n',
        // The agent's own ignore file has no say.
        '.gitignore': 'src\n',
        'nested/.git/config': '[core]\n',
        'nested/file.js': 'in a planted repository\n',
        'binary.bin': 'a\0b',
        'huge.txt': 'x'.repeat(2 * 1024 * 1024),
      });
      await symlink('/etc', path.join(workspace.root, 'etc'));
      await rm(path.join(workspace.root, 'keep'), { recursive: true });
      await symlink('/etc', path.join(workspace.root, 'keep'));
      expect(await workspace.changes()).toEqual([
        { path: '.gitignore', before: 'build/\n', after: 'src\n' },
        { path: 'keep/a.txt', before: 'a\n', after: null },
        { path: 'nested/file.js', before: null, after: 'in a planted repository\n' },
        { path: 'src/clamp.js', before: nodeProject['src/clamp.js'], after: 'changed\n' },
        { path: 'src/new.js', before: null, after: 'new\n' },
      ]);
      // Nor does a search show what was built.
      const ignored = await workspace.ignored(['build/out.js', 'src/new.js', 'src/clamp.js', '.gitignore']);
      expect([...ignored]).toEqual(['build/out.js']);
    });
  });

  it('are read from, and the tree deleted with, folders that the agent made read-only', async () => {
    const folder = await temporary.repository(nodeProject);
    await inEnvironment(folder, 'unconfined', async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
      await mkdir(path.join(workspace.root, 'locked'));
      await writeFile(path.join(workspace.root, 'locked/a.txt'), 'a\n');
      await chmod(path.join(workspace.root, 'locked/a.txt'), 0o000);
      await chmod(path.join(workspace.root, 'locked'), 0o000);
      expect(await workspace.changes()).toEqual([{ path: 'locked/a.txt', before: null, after: 'a\n' }]);
      await chmod(path.join(workspace.root, 'locked'), 0o500);
      await workspace.dispose();
      await workspace.dispose();
      expect(await readdir(path.join(environment.stateFolder, 'worktrees'))).toEqual([]);
    });
  });
});

describe('opening', () => {
  it('captures uncommitted and untracked files, and not those that are ignored', async () => {
    const folder = await temporary.repository({ ...nodeProject, '.gitignore': 'secret.txt\n' });
    await writeFiles(folder, { 'secret.txt': 's', 'src/added.js': 'added\n', 'node_modules/x/index.js': '1' });
    await rm(path.join(folder, 'test/clamp.test.js'));
    await writeFiles(folder, { 'test/other.test.js': "import 'node:test';\n" });
    await inEnvironment(folder, sandboxes[0], async (environment) => {
      const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
      expect(await readFile(path.join(workspace.root, 'src/added.js'), 'utf8')).toBe('added\n');
      expect((await readdir(workspace.root)).sort()).toEqual(['.git', '.gitignore', 'package.json', 'src', 'test']);
      expect(await readdir(path.join(workspace.root, 'test'))).toEqual(['other.test.js']);
    });
  });

  it('sweeps the worktrees of processes that have died, and only those', async () => {
    const folder = await temporary.repository(nodeProject);
    await writeFiles(folder, {
      '.whetstone/worktrees/999999999-1/tree/a.txt': 'a',
      [`.whetstone/worktrees/${process.ppid}-1/tree/a.txt`]: 'a',
      '.whetstone/cache/trees/abc.999999999-x/a.txt': 'a',
    });
    await inEnvironment(folder, sandboxes[0], async (environment) => {
      expect(await readdir(path.join(environment.stateFolder, 'worktrees'))).toEqual([`${process.ppid}-1`]);
      expect(await readdir(path.join(environment.stateFolder, 'cache', 'trees'))).toHaveLength(1);
    });
  });

  const failures: [string, () => Promise<string>, RegExp][] = [
    ['a folder that is missing', async () => path.join(await temporary.folder(), 'nowhere'), /does not exist/],
    ['a folder that is no repository', () => temporary.folder(), /is not a git repository/],
    [
      'a repository without a commit',
      async () => {
        const folder = await temporary.folder();
        await runGit(folder, 'init', '--quiet');
        return folder;
      },
      /has no commit yet/,
    ],
    [
      'a bare repository',
      async () => {
        const folder = await temporary.folder();
        await runGit(folder, 'init', '--quiet', '--bare');
        return folder;
      },
      /is a bare git repository/,
    ],
    [
      'a folder that holds two repositories',
      async () => {
        const outer = await temporary.folder();
        for (const name of ['one', 'two']) {
          await mkdir(path.join(outer, name));
          await runGit(path.join(outer, name), 'init', '--quiet');
        }
        return outer;
      },
      /holds 2 git repositories: one, two/,
    ],
    ['a repository without tests', () => temporary.repository({ 'a.txt': 'a' } satisfies Files), /No tests were found/],
    [
      'a repository whose runner is not driven',
      () => temporary.repository({ 'package.json': '{"scripts":{"test":"ava --tap"}}' }),
      /run with ava, which Whetstone does not drive yet/,
    ],
  ];
  it.each(failures)('says in one line what is wrong with %s', async (_, make, expected) => {
    const error = await open(await make()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WhetstoneError);
    if (error instanceof WhetstoneError) {
      expect(error.exitCode).toBe(2);
      expect(error.line).toMatch(expected);
      expect(error.remedy.message).not.toBe('');
      expect(error.line).not.toContain('\n');
    }
  });

  it('finds the only repository in a subfolder of the folder given', async () => {
    const outer = await temporary.folder();
    await writeFiles(path.join(outer, 'a/b'), nodeProject);
    await runGit(path.join(outer, 'a/b'), 'init', '--quiet');
    await runGit(path.join(outer, 'a/b'), 'add', '--all');
    await runGit(path.join(outer, 'a/b'), 'commit', '--quiet', '--message=First');
    await inEnvironment(outer, sandboxes[0], async (environment) => {
      expect(environment.repoRoot).toBe(path.join(outer, 'a/b'));
    });
  });
});
