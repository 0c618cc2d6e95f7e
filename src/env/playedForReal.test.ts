import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RepositoryEnvironment } from './environment.js';
import { startEpisode } from './episode.js';
import { limits as shortLimits, makeTask, turn } from './folderEnvironment.testing.js';
import { gradeChanges, gradePatch } from './grade.js';
import { openEnvironment } from './openEnvironment.js';
import { replayTrajectory } from './replay.js';
import { bubblewrapProblem } from './sandbox/bubblewrap.js';
import type { Task } from '../trajectory/task.js';

const limits = { ...shortLimits, maxTurns: 20, testTimeoutMs: 60_000 };
const sandbox = (await bubblewrapProblem()) === null ? 'bubblewrap' : 'unconfined';

interface Fixture {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly source: string;
  readonly testFile: string;
  readonly wrong: string;
  readonly right: string;
}

const fixtures: readonly Fixture[] = [
  {
    name: 'node:test',
    source: 'src/clamp.js',
    testFile: 'test/clamp.test.js',
    wrong: 'if (x < low) return high;',
    right: 'if (x < low) return low;',
    files: {
      'package.json': '{"type": "module", "scripts": {"test": "node --test"}}\n',
      'src/clamp.js':
        'export function clamp(x, low, high) {\n  if (x < low) return high;\n  return x > high ? high : x;\n}\n',
      'test/clamp.test.js':
        "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { clamp } from '../src/clamp.js';\n" +
        "test('low bound', () => assert.equal(clamp(-1, 0, 9), 0));\ntest('high bound', () => assert.equal(clamp(10, 0, 9), 9));\n",
    },
  },
  {
    name: 'pytest',
    source: 'clamp.py',
    testFile: 'tests/test_clamp.py',
    wrong: 'return high if x < low',
    right: 'return low if x < low',
    files: {
      'pyproject.toml': '[tool.pytest.ini_options]\npythonpath = ["."]\n',
      'clamp.py': 'def clamp(x, low, high):\n    return high if x < low else min(x, high)\n',
      'tests/test_clamp.py':
        'from clamp import clamp\n\n\ndef test_low():\n    assert clamp(-1, 0, 9) == 0\n\n\ndef test_high():\n    assert clamp(10, 0, 9) == 9\n',
    },
  },
];

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function openFixture({ files }: Fixture): Promise<RepositoryEnvironment> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), 'whetstone-play-')));
  folders.push(base);
  const repo = path.join(base, "it's a répo");
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(repo, file)), { recursive: true });
    await writeFile(path.join(repo, file), text);
  }
  const git = (...args: string[]) => execFileSync('git', ['-C', repo, ...args], { stdio: 'pipe' });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'start');
  return openEnvironment({ path: repo, sandbox });
}

describe.each(fixtures)('an episode over a real repository with $name', (fixture) => {
  const { source, testFile, wrong, right, files } = fixture;
  let environment: RepositoryEnvironment;
  let task: Task;
  const fix = turn(['edit', { path: source, old: wrong, new: right }]);

  beforeAll(async () => {
    environment = await openFixture(fixture);
    const workspace = await environment.openWorkspaceFromTree(environment.baseTree, '');
    const { results } = await workspace.runTests();
    await workspace.dispose();
    const ids = (status: string) => results.filter((result) => result.status === status).map((result) => result.id);
    const lines = (text: string) => text.trimEnd().split('\n');
    const [before, after] = [lines(files[source]), lines(files[source].replace(wrong, right))];
    const hunk = [
      `@@ -1,${before.length} +1,${after.length} @@`,
      ...before.map((l) => `-${l}`),
      ...after.map((l) => `+${l}`),
    ];
    task = makeTask(
      {
        base_commit: 'HEAD',
        patch: `--- a/${source}\n+++ b/${source}\n${hunk.join('\n')}\n`,
        FAIL_TO_PASS: ids('failed'),
        PASS_TO_PASS: ids('passed'),
      },
      { base_tree: environment.baseTree, runner: environment.suites.name, test_files: [testFile] },
    );
  });
  afterAll(() => environment.dispose());

  it('is played, graded as resolved, and replayed to the same observations', async () => {
    const turns = [
      turn(['run_tests', {}], ['open', { path: source }]),
      turn(['search', { query: wrong }]),
      turn(['run_command', { command: 'pwd; ls -l; echo "$PWD/x"; date; git log --oneline | wc -l; exit 2' }]),
      fix,
      turn(['run_tests', { files: [testFile] }]),
      turn(['submit', {}]),
    ];
    const episode = await startEpisode(environment, task, limits);
    const recorded = [];
    for (const message of turns) {
      const { observations } = await episode.step(message);
      recorded.push({ message, observations: observations.map(({ content }) => content) });
    }
    expect(recorded[0].observations[0]).toMatch(/^1 passed, 1 failed\nFAIL \S+clamp\S* > .*low.*\n {2}\S/);
    expect(recorded[1].observations[0]).toMatch(new RegExp(`^${source}:2: `));
    expect(recorded[2].observations[0]).toMatch(/^\.\n[^]*\nx\n[^]*\n1\nexit code 2$/);
    expect(recorded[4].observations[0]).toBe('2 passed, 0 failed');
    const grade = await gradeChanges(environment, task, await episode.changes(), {
      statistics: episode.statistics(),
      timeoutMs: 60_000,
    });
    await episode.dispose();
    expect(grade).toMatchObject({ resolved: true, components: { tests: { score: 1 } }, files: [{ path: source }] });

    const replay = await replayTrajectory(environment, task, recorded, { limits });
    expect(replay.turns.map(({ diff }) => diff)).toEqual(turns.map(() => ''));
  });

  it('earns nothing by weakened tests, a planted configuration, or results left lying about', async () => {
    const episode = await startEpisode(environment, task, limits);
    await episode.step(
      turn(
        [
          'edit',
          {
            path: testFile,
            old: fixture.name === 'pytest' ? '== 0' : ', 0));',
            new: fixture.name === 'pytest' ? '!= 0' : ', 9));',
          },
        ],
        [
          'run_command',
          {
            command: 'printf "import pytest\\n@pytest.fixture(autouse=True)\\ndef x(): pytest.skip()\\n" > conftest.py',
          },
        ],
        ['edit', { path: source, old: wrong, new: `${wrong} ` }],
      ),
    );
    const changes = await episode.changes();
    expect(changes.map((change) => change.path)).toContain(testFile);
    await episode.dispose();
    const grade = await gradeChanges(environment, task, changes, { statistics: null, timeoutMs: 60_000 });
    expect(grade).toMatchObject({ resolved: false, components: { tests: { score: 0 } } });
  });

  it('takes a patch that never ends for one that fails the tests', async () => {
    const loop = fixture.name === 'pytest' ? 'while True: pass\n' : 'for (;;);\n';
    const patch = `--- a/${source}\n+++ b/${source}\n@@ -0,0 +1 @@\n+${loop}`;
    const grade = await gradePatch(environment, task, patch, { statistics: null, timeoutMs: 3000 });
    expect(grade.components.tests).toMatchObject({ score: 0 });
    expect(grade.tests.every((test) => test.after !== 'passed')).toBe(true);
  });

  it('grades the oracle patch as resolved with similarity 1', async () => {
    const grade = await gradePatch(environment, task, task.patch, { statistics: null, timeoutMs: 60_000 });
    expect(grade).toMatchObject({ resolved: true, components: { similarity: { score: 1 } } });
  });

  it('does not lead out of the tree through a link that a command made', async () => {
    const episode = await startEpisode(environment, task, limits);
    await symlink(environment.repoRoot, path.join(episode.root, 'way-out'));
    const { observations } = await episode.step(
      turn(['open', { path: `way-out/${source}` }], ['edit', { path: `way-out/${source}`, old: wrong, new: right }]),
    );
    await episode.dispose();
    for (const { content } of observations) expect(content).toBe('"way-out" is a link.');
  });
});
