import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Task } from '../../trajectory/task.js';
import type { RepositoryEnvironment } from '../environment.js';
import { startEpisode } from '../episode.js';
import { buildJanitor, TemporaryFolders, type Files } from '../fixtureRepository.testing.js';
import { limits as shortLimits, makeTask, turn } from '../folderEnvironment.testing.js';
import { gradeChanges } from '../grade.js';
import { openEnvironment } from '../openEnvironment.js';
import { bubblewrapProblem } from '../sandbox/bubblewrap.js';
import type { SandboxKind } from '../sandbox/sandbox.js';
import { EpisodeWorkspace } from './episodeWorkspace.js';
import { RunMemory } from './runMemory.js';
import type { Workspace } from './workspace.js';

const source = 'src/clamp.js';
const wrong = 'if (x < low) return high;';
const right = 'if (x < low) return low;';
/** The source believes a file that git ignores, where there is one: so does a stale cache. */
const files: Files = {
  '.gitignore': 'cache/\n',
  'package.json': '{"type": "module", "scripts": {"test": "node --test"}}\n',
  [source]: [
    "import { existsSync } from 'node:fs';",
    'export function clamp(x, low, high) {',
    "  if (existsSync('cache/low')) return Math.min(high, Math.max(low, x));",
    `  ${wrong}`,
    '  return x > high ? high : x;',
    '}',
    '',
  ].join('\n'),
  'test/clamp.test.js': [
    "import assert from 'node:assert/strict';",
    "import { test } from 'node:test';",
    "import { clamp } from '../src/clamp.js';",
    "test('low bound', () => assert.equal(clamp(-1, 0, 9), 0));",
    "test('high bound', () => assert.equal(clamp(10, 0, 9), 9));",
    "test('within', () => assert.equal(clamp(5, 0, 9), 5));",
    '',
  ].join('\n'),
};
const limits = { ...shortLimits, maxTurns: 20, testTimeoutMs: 60_000, commandTimeoutMs: 60_000 };

const temporary = new TemporaryFolders();
const kinds: SandboxKind[] = (await bubblewrapProblem()) === null ? ['bubblewrap', 'unconfined'] : ['unconfined'];

/** Runs of the tests that were really made. */
const real = vi.spyOn(EpisodeWorkspace.prototype, 'runTests');
afterAll(() => temporary.remove());

describe.each(kinds)('a workspace with a memory, in the sandbox %s', (sandbox) => {
  let environment: RepositoryEnvironment;
  let task: Task;
  let shown: RunMemory<'shown'>;
  let graded: RunMemory<'graded'>;
  const open: Workspace[] = [];

  beforeAll(async () => {
    const janitorScript = await buildJanitor(await temporary.folder());
    environment = await openEnvironment({ path: await temporary.repository(files), sandbox, janitorScript });
    const at = (name: string) => `test/clamp.test.js > ${name}`;
    const patch = `--- a/${source}\n+++ b/${source}\n@@ -4 +4 @@\n-  ${wrong}\n+  ${right}\n`;
    task = makeTask(
      { patch, FAIL_TO_PASS: [at('low bound')], PASS_TO_PASS: [at('high bound'), at('within')] },
      { base_tree: environment.baseTree, runner: 'node:test', test_files: ['test/clamp.test.js'] },
    );
  });
  afterAll(() => environment.dispose());
  beforeEach(() => {
    [shown, graded] = [new RunMemory('shown'), new RunMemory('graded')];
    real.mockClear();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((workspace) => workspace.dispose()));
  });

  const openOne = async () => {
    const workspace = await environment.openWorkspace(task, [], shown);
    open.push(workspace);
    return workspace;
  };
  const edit = (workspace: Workspace, before: string, after: string) =>
    writeFile(path.join(workspace.root, source), files[source].replace(before, after));
  const statuses = async (workspace: Workspace, options = {}) =>
    (await workspace.runTests(options)).results.map(({ status }) => status).join(' ');
  const grade = (changes: Parameters<typeof gradeChanges>[2]) =>
    gradeChanges(environment, task, changes, { statistics: null, timeoutMs: 60_000, memory: graded });
  const play = async (...turns: ReturnType<typeof turn>[]) => {
    const episode = await startEpisode(environment, task, limits, undefined, shown);
    const observations: string[] = [];
    for (const message of turns)
      observations.push(...(await episode.step(message)).observations.map(({ content }) => content));
    const changes = await episode.changes();
    await episode.dispose();
    return { observations, changes };
  };

  it('makes the runs of equal trees once, also those that are asked for at the same time', async () => {
    const [one, two, three] = [await openOne(), await openOne(), await openOne()];
    const together = await Promise.all([one, two, three].map((workspace) => workspace.runTests()));
    expect(together.map(({ results }) => results)).toEqual([1, 2, 3].map(() => together[0].results));
    expect(together.filter(({ durationMs }) => durationMs === 0)).toHaveLength(2);
    for (const workspace of [one, two, three]) {
      await edit(workspace, wrong, right);
      expect(await statuses(workspace)).toBe('passed passed passed');
      await edit(workspace, wrong, wrong);
      expect(await statuses(workspace)).toBe('failed passed passed');
    }
    expect(real).toHaveBeenCalledTimes(2);
    expect(shown.counts).toEqual({ asked: 9, remembered: 7 });
  });

  it('makes a run of its own where the files, the memory or the tree is another, and none for another time limit', async () => {
    await (await openOne()).runTests();
    await (await openOne()).runTests({ timeoutMs: 50_000 });
    await (await openOne()).runTests({ files: [] });
    const changed = await openOne();
    await mkdir(path.join(changed.root, 'cache'));
    await writeFile(path.join(changed.root, 'cache/low'), '');
    expect(await statuses(changed)).toBe('passed passed passed');
    expect(await statuses(await openOne())).toBe('failed passed passed');
    expect((await grade([{ path: 'x.js', before: null, after: '' }])).resolved).toBe(false);
    expect(real).toHaveBeenCalledTimes(4);
    expect(shown.counts).toEqual({ asked: 5, remembered: 2 });
  });

  it('tells of its own tree in place of that in which the run was made', async () => {
    const [one, two] = [await openOne(), await openOne()];
    const ids = { id: 'a.js > a', file: 'a.js', name: 'a', status: 'failed' } as const;
    const results = [{ ...ids, message: `in ${one.mountPath}.` }];
    real.mockResolvedValueOnce({ outcome: 'completed', results, output: `${one.mountPath}/a.js`, durationMs: 7 });
    await one.runTests();
    expect(await two.runTests()).toEqual({
      outcome: 'completed',
      results: [{ ...ids, message: `in ${two.mountPath}.` }],
      output: `${two.mountPath}/a.js`,
      durationMs: 0,
    });
    expect(one.mountPath === two.mountPath).toBe(sandbox === 'bubblewrap');
  });

  it('shares nothing from a command of the policy on', async () => {
    const clean = await openOne();
    const commanded = await openOne();
    const argv = ['/bin/sh', '-c', 'mkdir -p cache && touch cache/low'];
    await commanded.run({ argv, timeoutMs: 30_000, maxOutputBytes: 1000 });
    expect(await statuses(commanded)).toBe('passed passed passed');
    expect(await statuses(clean)).toBe('failed passed passed');
    const tidied = await openOne();
    await tidied.run({ argv: ['/bin/sh', '-c', 'true'], timeoutMs: 30_000, maxOutputBytes: 1000 });
    expect(await statuses(tidied)).toBe('failed passed passed');
    expect(real).toHaveBeenCalledTimes(3);
    expect(shown.counts.remembered).toBe(0);
  });

  it('shares the first run of a tree in which it left what git ignores, and no later one', async () => {
    // What such a run leaves decides the next one.
    const poison = "writeFileSync('cache/low', '');";
    const planted = `import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync('cache', { recursive: true }); ${poison}\n`;
    const poisoner = await openOne();
    await edit(poisoner, '', planted);
    await poisoner.runTests();
    await edit(poisoner, '', '');
    expect(await statuses(poisoner)).toBe('passed passed passed');
    // Nobody else is told so.
    expect(await statuses(await openOne())).toBe('failed passed passed');
    const another = await openOne();
    await edit(another, '', planted);
    await another.runTests();
    expect(real).toHaveBeenCalledTimes(3);
  });

  it('makes each run of tests that leave what an episode would see', async () => {
    const leaving = "import { writeFileSync } from 'node:fs'; writeFileSync('seen.txt', '');\n";
    for (let count = 1; count <= 2; count++) {
      const workspace = await openOne();
      await edit(workspace, '', leaving);
      await workspace.runTests();
      expect((await workspace.changes()).map((change) => change.path)).toEqual(['seen.txt', source]);
    }
    expect(real).toHaveBeenCalledTimes(2);
  });

  it('gives its run to who waits for it where it is cancelled and closed itself', async () => {
    const [one, two] = [await openOne(), await openOne()];
    const stop = new AbortController();
    const [first, second] = [one.runTests({ signal: stop.signal }), two.runTests()];
    await vi.waitFor(() => expect(real).toHaveBeenCalledTimes(1));
    // The other waits for it by now, or will make its own.
    stop.abort();
    const disposed = one.dispose();
    await expect(first).rejects.toMatchObject({ kind: 'cancelled' });
    await disposed;
    expect((await second).results.map(({ status }) => status)).toEqual(['failed', 'passed', 'passed']);
  });

  it.each([
    [
      'an ignored file by a tool',
      turn(['apply_patch', { patch: '--- /dev/null\n+++ b/cache/low\n@@ -0,0 +1 @@\n+x\n' }]),
    ],
    ['an ignored file by a command', turn(['run_command', { command: 'mkdir -p cache && touch cache/low' }])],
    [
      'an ignored file by its tests',
      turn(
        [
          'edit',
          {
            path: source,
            old: 'export function',
            new: "import { mkdirSync } from 'node:fs';\nmkdirSync('cache/low', { recursive: true });\nexport function",
          },
        ],
        ['run_tests', {}],
        [
          'edit',
          {
            path: source,
            old: "import { mkdirSync } from 'node:fs';\nmkdirSync('cache/low', { recursive: true });\n",
            new: '',
          },
        ],
      ),
    ],
  ])('earns nothing by %s that makes the tests green', async (_name, planting) => {
    const honest = turn([
      'edit',
      { path: source, old: 'return x > high ? high : x;', new: 'return x >= high ? high : x;' },
    ]);
    const poisoned = await play(planting, honest, turn(['run_tests', {}]));
    expect(poisoned.observations.at(-1)).toBe('3 passed, 0 failed');
    expect(poisoned.changes.map((change) => change.path)).toEqual([source]);
    real.mockClear();
    expect(await grade(poisoned.changes)).toMatchObject({ resolved: false });
    expect(real).toHaveBeenCalledTimes(1);
    // Nor does it mislead another episode in a tree that looks the same.
    expect((await play(honest, turn(['run_tests', {}]))).observations.at(-1)).toMatch(/^2 passed, 1 failed/);
  });

  it('remembers grades among grades', async () => {
    const fix = turn(['edit', { path: source, old: wrong, new: right }]);
    const episodes = [await play(fix, turn(['run_tests', {}])), await play(fix, turn(['run_tests', {}]))];
    const grades = [await grade(episodes[0].changes), await grade(episodes[1].changes)];
    expect(grades[0].resolved).toBe(true);
    expect(grades[1]).toEqual(grades[0]);
    expect([shown.counts, graded.counts]).toEqual([1, 2].map(() => ({ asked: 2, remembered: 1 })));
    expect(real).toHaveBeenCalledTimes(2);
  });

  it('asks the start tree itself, each time, whether the machine is well', async () => {
    const change = [{ path: source, before: files[source], after: 'for (;;);\n' }];
    for (let count = 1; count <= 2; count++) {
      real.mockResolvedValueOnce({ outcome: 'crashed', results: [], output: '', durationMs: 1 });
      expect((await grade(change)).components.tests.reason).toContain('the test run crashed');
      expect(real).toHaveBeenCalledTimes(2 * count);
    }
    expect(graded.counts).toEqual({ asked: 2, remembered: 0 });
  });
});
