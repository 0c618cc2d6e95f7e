import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Task } from '../trajectory/task.js';
import type { Environment } from './environment.js';
import { startEpisode } from './episode.js';
import type { Episode } from './episodeTypes.js';
import { folderEnvironment, limits, makeTask, turn, type FakeTests } from './folderEnvironment.testing.js';

const CLAMP = 'export function clamp(x, low, high) {\n  if (x < low) return high;\n  return Math.min(x, high);\n}\n';
const FILES = { 'src/clamp.js': CLAMP, 'src/crlf.js': 'one\r\ntwo\r\nthree\r\n', 'test/clamp.test.js': 'clamp(1);\n' };

const environments: Environment[] = [];
afterEach(async () => {
  for (const environment of environments.splice(0)) await environment.dispose();
});

async function play(runTests?: FakeTests, files: Record<string, string> = FILES, own = limits): Promise<Episode> {
  const environment = await folderEnvironment(files, runTests);
  environments.push(environment);
  return startEpisode(environment, makeTask(), own);
}

async function observe(episode: Episode, name: string, args: Record<string, unknown>): Promise<string> {
  return (await episode.step(turn([name, args]))).observations[0].content;
}

describe('an episode', () => {
  it('asks once for a look at the work before it is handed in, where that is wished', async () => {
    const episode = await play(undefined, FILES, { ...limits, selfCheck: true });
    await observe(episode, 'edit', { path: 'src/clamp.js', old: 'return high', new: 'return low' });
    const first = await episode.step(turn(['submit', {}]));
    expect(first.stopReason).toBeNull();
    expect(first.observations[0].content).toMatch(/^Not submitted yet\. You changed src\/clamp\.js\. /);
    const second = await episode.step(turn(['submit', {}]));
    expect(second).toMatchObject({ stopReason: 'submitted', observations: [{ content: 'Submitted.' }] });
    expect(episode.statistics().toolCalls.submit).toBe(2);
  });

  it('opens, edits, tests and submits with short regular observations', async () => {
    const episode = await play(async (root) => {
      const fixed = (await readFile(path.join(root, 'src/clamp.js'), 'utf8')).includes('return low');
      const message = fixed ? '' : 'Expected 0\n  got 10';
      const status = fixed ? ('passed' as const) : ('failed' as const);
      const file = 'test/clamp.test.js';
      return { results: [{ id: `${file} > low`, file, name: 'low', status, message }] };
    });
    expect(episode.prompt[1].content).toBe('clamp returns the wrong bound.');
    expect(await observe(episode, 'run_tests', {})).toBe(
      '0 passed, 1 failed\nFAIL test/clamp.test.js > low\n  Expected 0\n    got 10',
    );
    const first = await episode.step(
      turn(
        ['open', { path: './src/clamp.js' }],
        ['search', { query: 'return high' }],
        ['search', { query: 'nowhere' }],
      ),
    );
    expect(first.observations.map((observation) => observation.content)).toEqual([
      'src/clamp.js (4 lines)\n1: export function clamp(x, low, high) {\n2:   if (x < low) return high;\n3:   return Math.min(x, high);\n4: }',
      'src/clamp.js:2: if (x < low) return high;',
      'No match for "nowhere".',
    ]);
    expect(await observe(episode, 'edit', { path: 'src/clamp.js', old: 'return high', new: 'return low' })).toBe(
      'Edited src/clamp.js:\n- 2:   if (x < low) return high;\n+ 2:   if (x < low) return low;',
    );
    expect(await observe(episode, 'run_tests', {})).toBe('1 passed, 0 failed');
    const last = await episode.step(turn(['submit', {}], ['open', { path: 'src/clamp.js' }]));
    expect(last).toMatchObject({ stopReason: 'submitted', observations: [{ content: 'Submitted.' }] });
    expect(await episode.changes()).toEqual([
      { path: 'src/clamp.js', before: CLAMP, after: CLAMP.replace('return high', 'return low') },
    ]);
    expect(episode.statistics()).toMatchObject({
      turns: 5,
      validCalls: 7,
      unknownTools: 0,
      toolCalls: { run_tests: 2, open: 1, search: 2, edit: 1, submit: 1 },
    });
    await expect(episode.step(turn(['submit', {}]))).rejects.toThrow(/internal/);
  });

  it('answers and counts unknown tools, bad arguments and malformed calls', async () => {
    const episode = await play();
    const { observations, stopReason } = await episode.step({
      ...turn(
        ['view', {}],
        ['open', {}],
        ['open', { path: 'a', line: 'x' }],
        ['edit', { path: 'a', old: 'b', new: 'c', all: 1 }],
      ),
      malformedCall: 'the JSON is not closed.',
    });
    expect(stopReason).toBeNull();
    expect(observations.map((observation) => observation.content)).toEqual([
      'Unknown tool "view". Tools: run_tests, search, open, suspects, suggest, choose, edit, apply_patch, run_command, submit.',
      'open: missing argument "path".',
      'open: argument "line" must be an integer.',
      'edit: unknown argument "all".',
      'Malformed tool call: the JSON is not closed. Write <tool_call>{"name": ..., "arguments": {...}}</tool_call>.',
    ]);
    expect(episode.statistics()).toMatchObject({
      unknownTools: 1,
      invalidArguments: 3,
      malformedCalls: 1,
      validCalls: 0,
    });
  });

  it('does not take a name that every object has for a tool', async () => {
    const episode = await play();
    expect(await observe(episode, 'constructor', {})).toMatch(/^Unknown tool/);
    expect(await observe(episode, '__proto__', {})).toMatch(/^Unknown tool/);
  });

  it('stops where a turn holds no call, and at the limit of turns', async () => {
    expect((await (await play()).step(turn())).stopReason).toBe('no-tool-call');
    const episode = await play();
    for (let i = 1; i < limits.maxTurns; i++)
      expect((await episode.step(turn(['open', { path: '.' }]))).stopReason).toBeNull();
    expect((await episode.step(turn(['open', { path: '.' }]))).stopReason).toBe('turn-limit');
  });

  it('counts turns with a thought', async () => {
    const episode = await play();
    await episode.step({ ...turn(['open', { path: '.' }]), thinking: 'look around' });
    await episode.step({ ...turn(['open', { path: '.' }]), thinking: ' ' });
    expect(episode.statistics()).toMatchObject({ turns: 2, thoughtTurns: 1 });
  });

  it('stops at once where it is cancelled', async () => {
    const episode = await play();
    await expect(episode.step(turn(['open', { path: '.' }]), AbortSignal.abort())).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });

  it('throws where the machine fails, and lets its errors through', async () => {
    const episode = await play(() => Promise.reject(new Error('no space left')));
    await expect(episode.step(turn(['run_tests', {}]))).rejects.toMatchObject({ kind: 'infrastructure' });
  });
});

describe('the tools keep inside the tree', () => {
  it.each([
    '../secret.txt',
    '/etc/passwd',
    'src/../../secret.txt',
    'out/secret.txt',
    '.git/config',
    'link.txt',
    'a\0b',
  ])('neither opens nor edits nor patches %j', async (written) => {
    const episode = await play();
    const outside = path.join(path.dirname(episode.root), 'outside');
    await mkdir(outside, { recursive: true });
    await writeFile(path.join(path.dirname(episode.root), 'secret.txt'), 'secret\n');
    await writeFile(path.join(outside, 'secret.txt'), 'secret\n');
    await mkdir(path.join(episode.root, '.git'));
    await writeFile(path.join(episode.root, '.git/config'), 'secret\n');
    await symlink(outside, path.join(episode.root, 'out'));
    await symlink(path.join(outside, 'secret.txt'), path.join(episode.root, 'link.txt'));
    const { observations } = await episode.step(
      turn(
        ['open', { path: written }],
        ['edit', { path: written, old: 'secret', new: 'changed' }],
        ['apply_patch', { patch: `--- a/${written}\n+++ b/${written}\n@@ -1 +1 @@\n-secret\n+changed\n` }],
        ['search', { query: 'secret' }],
      ),
    );
    for (const { content } of observations.slice(0, 3))
      expect(content).toMatch(/outside the repository|is a link|belongs to git/);
    expect(observations[3].content).toBe('No match for "secret".');
    expect(await readFile(path.join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
  });

  it('opens an absolute path under the tree', async () => {
    const episode = await play();
    expect(await observe(episode, 'open', { path: path.join(episode.root, 'src/crlf.js') })).toBe(
      'src/crlf.js (3 lines)\n1: one\n2: two\n3: three',
    );
  });
});

describe('edit', () => {
  it('refuses a text that occurs nowhere or more than once, and says how often', async () => {
    const episode = await play(undefined, { 'a.js': 'xx x\nxx\n' });
    expect(await observe(episode, 'edit', { path: 'a.js', old: 'y', new: '' })).toBe(
      'Not edited: old occurs 0 times in a.js.',
    );
    expect(await observe(episode, 'edit', { path: 'a.js', old: 'xx', new: '' })).toBe(
      'Not edited: old occurs 2 times in a.js; give more of the text around it.',
    );
    expect(await observe(episode, 'edit', { path: 'a.js', old: '', new: 'z' })).toMatch(/0 times/);
    expect(await episode.changes()).toEqual([]);
  });

  it('keeps CRLF line ends', async () => {
    const episode = await play();
    expect(await observe(episode, 'edit', { path: 'src/crlf.js', old: 'one\ntwo', new: 'one\nand\ntwo' })).toBe(
      'Edited src/crlf.js:\n+ 2: and',
    );
    expect((await episode.changes())[0].after).toBe('one\r\nand\r\ntwo\r\nthree\r\n');
  });

  it('takes a dollar sign in the new text as it is', async () => {
    const episode = await play(undefined, { 'a.js': 'x\n' });
    await observe(episode, 'edit', { path: 'a.js', old: 'x', new: '$& $1 $$' });
    expect((await episode.changes())[0].after).toBe('$& $1 $$\n');
  });

  it('says that a change of a test does not count', async () => {
    const episode = await play();
    expect(await observe(episode, 'edit', { path: 'test/clamp.test.js', old: '1', new: '2' })).toMatch(
      /do not count\.$/,
    );
  });

  it('leaves files alone that are not text', async () => {
    const episode = await play();
    await writeFile(path.join(episode.root, 'x.bin'), Buffer.from([0xff, 0xfe, 0x41]));
    expect(await observe(episode, 'edit', { path: 'x.bin', old: 'A', new: 'B' })).toBe('"x.bin" is not a text file.');
    expect(await observe(episode, 'edit', { path: 'src', old: 'A', new: 'B' })).toBe('"src" is a folder.');
  });
});

describe('suspects, suggest and choose', () => {
  const file = 'test/clamp.test.js';
  const files = {
    'src/clamp.js': CLAMP,
    'src/other.js': 'export function other(x) {\n  return x > 1;\n}\n',
    [file]:
      "import { clamp } from '../src/clamp.js';\nimport { other } from '../src/other.js';\ntest('low', () => clamp(1));\ntest('two', () => other(2));\n",
  };
  const task = (fields: Partial<Task> = {}) => makeTask({ FAIL_TO_PASS: [`${file} > low`], ...fields });

  async function playTask(runTests?: FakeTests, own = { ...limits, maxTurns: 20 }) {
    const environment = await folderEnvironment(files, runTests);
    environments.push(environment);
    return startEpisode(environment, task(), own);
  }
  const list = [
    'src/clamp.js, clamp (10 changes)',
    '2:   if (x < low) return high;',
    '  x becomes high (1)',
    '  condition x < low negated (2)',
    '  < becomes > (3)',
    '  < becomes <= (4)',
    '  low becomes high (5)',
    '  high becomes low (6)',
    '  high becomes x (7)',
    '3:   return Math.min(x, high);',
    '  min becomes max (8)',
    '  x becomes low (9)',
    '  high becomes low (10)',
  ].join('\n');

  it('list functions and small changes of one, and make one in the tree as it was at the start, and run the tests', async () => {
    const seen: string[] = [];
    const episode = await playTask(async (root, tested) => {
      const text = await readFile(path.join(root, 'src/clamp.js'), 'utf8');
      seen.push(text);
      const status = text.includes('return low') ? ('passed' as const) : ('failed' as const);
      return {
        results: tested.map((test) => ({ id: `${test} > low`, file: test, name: 'low', status, message: 'no' })),
      };
    });
    const suspects = '1. clamp (src/clamp.js:1)\n2. other (src/other.js:1)';
    expect(await observe(episode, 'suspects', {})).toBe(suspects);
    expect(await observe(episode, 'suggest', { function: 1 })).toBe(list);
    await observe(episode, 'edit', { path: 'src/clamp.js', old: 'return high', new: 'return x' });
    await observe(episode, 'edit', { path: 'src/other.js', old: '> 1', new: '> 2' });
    await writeFile(path.join(episode.root, 'src/new.js'), 'new\n');
    expect(await observe(episode, 'suspects', { from: 2 })).toBe('2. other (src/other.js:1)');
    expect(await observe(episode, 'suggest', { function: 1 })).toBe(list);
    expect(await observe(episode, 'choose', { function: 1, number: 2 })).toMatch(
      /^0 passed, 1 failed\nsrc\/clamp\.js:2: condition x < low negated$/,
    );
    expect(await observe(episode, 'choose', { function: 1, number: 6 })).toBe(
      '1 passed, 0 failed\nsrc/clamp.js:2: high becomes low',
    );
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(CLAMP.replace('return high', 'return low'));
    expect(await episode.changes()).toEqual([
      { path: 'src/clamp.js', before: CLAMP, after: CLAMP.replace('return high', 'return low') },
    ]);
  });

  it('run the files of the failing tests, and the others once these pass', async () => {
    const other = 'test/other.test.js';
    const runs: (readonly string[])[] = [];
    const environment = await folderEnvironment({ ...files, [other]: '' }, async (root, tested) => {
      runs.push(tested);
      const isMended = (await readFile(path.join(root, 'src/clamp.js'), 'utf8')).includes('return low');
      const status = (test: string) => (test === file && !isMended ? ('failed' as const) : ('passed' as const));
      return {
        results: tested.map((test) => ({
          id: `${test} > a`,
          file: test,
          name: 'a',
          status: status(test),
          message: '',
        })),
      };
    });
    environments.push(environment);
    const both = makeTask({ FAIL_TO_PASS: [`${file} > low`] }, { test_files: [file, other] });
    const episode = await startEpisode(environment, both, limits);
    expect(await observe(episode, 'choose', { function: 1, number: 2 })).toMatch(/^0 passed, 1 failed\n/);
    expect(runs).toEqual([[file]]);
    expect(await observe(episode, 'choose', { function: 1, number: 6 })).toMatch(/^2 passed, 0 failed\n/);
    expect(runs.slice(1)).toEqual([[file], [other]]);
  });

  it('wait for a change that loops no longer than a run took in which some test passed', async () => {
    const given: (number | undefined)[] = [];
    const environment = await folderEnvironment(files, (_root, _files, timeoutMs) => {
      given.push(timeoutMs);
      const status = given.length === 1 ? 'failed' : 'passed';
      return Promise.resolve({
        durationMs: 700,
        results: [{ id: `${file} > low`, file, name: 'low', status, message: '' }],
      });
    });
    environments.push(environment);
    const episode = await startEpisode(environment, task({ repo: 'loops' }), { ...limits, testTimeoutMs: 60_000 });
    for (const number of [1, 2, 3]) await observe(episode, 'choose', { function: 1, number });
    expect(given).toEqual([60_000, 60_000, 7000]);
  });

  it('say what is there where they cannot, and then touch nothing and run nothing', async () => {
    const episode = await playTask(() => Promise.reject(new Error('internal: no tests are run here')));
    await observe(episode, 'edit', { path: 'src/other.js', old: '> 1', new: '> 2' });
    const before = await episode.changes();
    expect(await observe(episode, 'suspects', { from: 3 })).toBe('No function 3: there are 2.');
    expect(await observe(episode, 'suggest', { function: 3 })).toBe('No function 3: there are 2.');
    expect(await observe(episode, 'choose', { function: 3, number: 1 })).toBe('No function 3: there are 2.');
    expect(await observe(episode, 'choose', { function: 1, number: 11 })).toBe('No change 11: there are 10.');
    for (const [number, must] of [
      [0, 'be at least 1'],
      [-1, 'be at least 1'],
      [1.5, 'be an integer'],
      ['1', 'be an integer'],
    ]) {
      expect(await observe(episode, 'choose', { function: 1, number })).toBe(`choose: argument "number" must ${must}.`);
    }
    expect(await observe(episode, 'suggest', { path: 'src/clamp.js', name: 'clamp' })).toMatch(/^suggest: /);
    expect(await episode.changes()).toEqual(before);
  });

  it('say in words that the tests timed out, and keep the change', async () => {
    const episode = await playTask(() => Promise.resolve({ outcome: 'timed-out', output: 'long\n' }));
    expect(await observe(episode, 'choose', { function: 1, number: 6 })).toBe(
      'The tests timed out.\nsrc/clamp.js:2: high becomes low',
    );
    expect(await episode.changes()).toHaveLength(1);
  });

  it('end with the episode that is cancelled', async () => {
    const episode = await playTask();
    const stop = new AbortController();
    const listing = episode.step(turn(['suspects', {}]), stop.signal);
    stop.abort();
    await expect(listing).rejects.toMatchObject({ kind: 'cancelled' });
  });
});

describe('apply_patch', () => {
  it('changes, creates, deletes and renames files', async () => {
    const episode = await play(undefined, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c d.txt': 'c\n' });
    const patch = [
      'diff --git a/a.txt b/a.txt',
      '--- a/a.txt',
      '+++ b/a.txt',
      '@@ -1 +1 @@',
      '-a',
      '+A',
      'diff --git a/b.txt b/b.txt',
      'deleted file mode 100644',
      '--- a/b.txt',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-b',
      'diff --git a/c d.txt b/e.txt',
      'similarity index 100%',
      'rename from c d.txt',
      'rename to e.txt',
      'diff --git a/n/new.txt b/n/new.txt',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/n/new.txt',
      '@@ -0,0 +1 @@',
      '+new',
    ].join('\n');
    expect(await observe(episode, 'apply_patch', { patch })).toBe('Patched a.txt, b.txt, c d.txt, e.txt, n/new.txt.');
    expect(await episode.changes()).toEqual([
      { path: 'a.txt', before: 'a\n', after: 'A\n' },
      { path: 'b.txt', before: 'b\n', after: null },
      { path: 'c d.txt', before: 'c\n', after: null },
      { path: 'e.txt', before: null, after: 'c\n' },
      { path: 'n/new.txt', before: null, after: 'new\n' },
    ]);
  });

  it('applies all of it or nothing', async () => {
    const episode = await play(undefined, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+B\n';
    expect(await observe(episode, 'apply_patch', { patch })).toBe('Not applied: a hunk does not match "b.txt".');
    expect(await observe(episode, 'apply_patch', { patch: 'please fix it' })).toMatch(
      /^Not applied: not a unified diff/,
    );
    expect(await episode.changes()).toEqual([]);
  });
});

describe('run_command', () => {
  it('shows the output, the exit code and a time-out', async () => {
    const episode = await play(undefined, FILES, { ...limits, commandTimeoutMs: 300 });
    expect(await observe(episode, 'run_command', { command: 'echo "a  b"; pwd; exit 3' })).toBe('a  b\n.\nexit code 3');
    expect(await observe(episode, 'run_command', { command: 'true' })).toBe('(no output)');
    expect(await observe(episode, 'run_command', { command: 'echo begun; exec sleep 20' })).toBe(
      'begun\ntimed out after 0.3 s',
    );
  });

  it('cuts a huge output in the middle', async () => {
    const episode = await play();
    const text = await observe(episode, 'run_command', { command: 'seq 1 5000; exit 1' });
    expect(Array.from(text).length).toBeLessThanOrEqual(limits.observationCharacters);
    expect(text).toMatch(/^1\n2\n[^]*\n\.\.\. \d+ characters cut \.\.\.\n[^]*\n5000\nexit code 1$/);
  });
});

describe('search', () => {
  it('shows sources before tests, ten hits, and how many more', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `needle ${i}`).join('\n');
    const episode = await play(undefined, { 'test/a.js': 'needle', 'z.js': many, 'node_modules/x.js': 'needle' });
    const lines = (await observe(episode, 'search', { query: 'needle' })).split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('z.js:1: needle 0');
    expect(lines[10]).toBe('(+3 more)');
    expect(await observe(episode, 'search', { query: 'needle', path: 'test' })).toBe('test/a.js:1: needle');
    expect(await observe(episode, 'search', { query: 'needle', path: 'nowhere' })).toBe('No file "nowhere".');
  });
});
