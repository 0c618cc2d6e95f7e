import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEpisode } from './episode.js';
import { folderEnvironment, limits, makeTask, turn, type FakeTests } from './folderEnvironment.testing.js';
import { gradeChanges, gradePatch } from './grade.js';
import { replayTrajectory } from './replay.js';

const SOURCE = 'export const low = (x) => (x < 0 ? 1 : x);\n';
const FIXED = SOURCE.replace('? 1', '? 0');
const FILES = { 'src/low.js': SOURCE, 'test/low.test.js': 'strict\n' };
const patchTo = (to: string) => `--- a/src/low.js\n+++ b/src/low.js\n@@ -1 +1 @@\n-${SOURCE}+${to}`;
const ORACLE = patchTo(FIXED);
const task = makeTask(
  { patch: ORACLE, FAIL_TO_PASS: ['low'], PASS_TO_PASS: ['high'] },
  { test_files: ['test/low.test.js'] },
);
const options = { statistics: null, timeoutMs: 1000 };

/** `low` passes where the source is fixed or the test is weakened; a source with `hang` times out. */
const runTests: FakeTests = async (root) => {
  const source = await readFile(path.join(root, 'src/low.js'), 'utf8');
  if (source.includes('hang')) return { outcome: 'timed-out' };
  const weakened = (await readFile(path.join(root, 'test/low.test.js'), 'utf8')) !== 'strict\n';
  const result = (id: string, passes: boolean) =>
    ({ id, file: 'test/low.test.js', name: id, status: passes ? 'passed' : 'failed', message: '' }) as const;
  return { results: [result('low', weakened || source === FIXED), result('high', !source.includes('break'))] };
};

const environments: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const environment of environments.splice(0)) await environment.dispose();
});
async function open(tests = runTests) {
  const environment = await folderEnvironment(FILES, tests);
  environments.push(environment);
  return environment;
}

const change = (after: string | null) => [{ path: 'src/low.js', before: SOURCE, after }];

describe('grading', () => {
  it('gives the oracle everything', async () => {
    const grade = await gradeChanges(await open(), task, change(FIXED), {
      ...options,
      statistics: { turns: 2, validCalls: 2, malformedCalls: 0, unknownTools: 0, invalidArguments: 0 },
    });
    expect(grade).toMatchObject({
      resolved: true,
      components: {
        tests: { score: 1, weight: 1 },
        similarity: { score: 1, weight: 0.2 },
        format: { score: 1, weight: 0.1 },
      },
      tests: [
        { id: 'low', before: 'failed', after: 'passed' },
        { id: 'high', before: 'passed', after: 'passed' },
      ],
      files: [{ path: 'src/low.js', ratio: 1 }],
    });
    expect(grade.reward).toBeCloseTo(1.3, 12);
  });

  it('leaves out changes of tests: a weakened test earns nothing', async () => {
    const weakened = [{ path: 'test/low.test.js', before: 'strict\n', after: '' }];
    const grade = await gradeChanges(await open(), task, weakened, options);
    expect(grade).toMatchObject({ resolved: false, reward: 0, tests: [{ after: 'failed' }, { after: 'passed' }] });
    const both = await gradeChanges(await open(), task, [...change(`${SOURCE}// x\n`), ...weakened], options);
    expect(both).toMatchObject({ resolved: false, components: { tests: { score: 0 } } });
  });

  it('takes what misconduct costs from the reward, and says of each kind what was found', async () => {
    const source = `${FIXED}eval(text;\n`;
    const statistics = {
      ...{ turns: 2, validCalls: 2, malformedCalls: 0, unknownTools: 0, invalidArguments: 0 },
      toolCalls: { edit: 2 },
      dangerousCommands: ['publishes'],
    };
    const { components, reward } = await gradeChanges(await open(), task, change(source), { ...options, statistics });
    expect(components).toMatchObject({
      manyFiles: { score: 0, weight: 0.2 },
      testsNeverRun: { score: -1, weight: 0.3 },
      lintErrors: { score: -1, weight: 0.5, reason: '1 syntax error in src/low.js' },
      dangerousCommands: { score: -1, weight: 1, reason: 'publishes' },
      securityProblems: { score: -1, weight: 1, reason: 'text run as code in src/low.js' },
    });
    const sum = Object.values(components).reduce((total, { score, weight }) => total + score * weight, 0);
    expect(reward).toBeCloseTo(sum, 12);
  });

  it('gives no test reward to a fix that breaks another test', async () => {
    const grade = await gradeChanges(await open(), task, change(`${FIXED}// break\n`), options);
    expect(grade).toMatchObject({ resolved: false, components: { tests: { score: 0 } } });
  });

  it('takes tests that the patch makes hang for failed, the machine being well', async () => {
    const environment = await open();
    const grade = await gradeChanges(environment, task, change('hang\n'), options);
    expect(grade).toMatchObject({ resolved: false, tests: [{ after: 'missing' }, { after: 'missing' }] });
    expect(grade.components.tests).toMatchObject({ score: 0, reason: expect.stringMatching(/timed out/) as string });
  });

  it('waits ten times as long as a solved tree of the same test files took, and not for what one that fails took', async () => {
    const given: (number | undefined)[] = [];
    const environment = await open(async (root, files, timeoutMs) => {
      given.push(timeoutMs);
      return { ...(await runTests(root, files)), durationMs: 2000 };
    });
    const slow = { ...task, repo: 'slow' };
    for (const after of ['// wrong\n', '// wrong\n', FIXED, FIXED])
      await gradeChanges(environment, slow, change(after), { ...options, timeoutMs: 60_000 });
    expect(given).toEqual([60_000, 60_000, 60_000, 20_000]);
  });

  it('blames the machine where the start tree gives no results either, and leaves no tree behind', async () => {
    const environment = await open(() => Promise.resolve({ outcome: 'crashed' }));
    await expect(gradeChanges(environment, task, change('x\n'), options)).rejects.toMatchObject({
      kind: 'infrastructure',
    });
    for (const root of environment.opened) await expect(readFile(path.join(root, 'src/low.js'))).rejects.toThrow();
  });

  it('is cancelled by its signal', async () => {
    const signal = AbortSignal.abort();
    await expect(gradeChanges(await open(), task, change('x\n'), { ...options, signal })).rejects.toMatchObject({
      kind: 'cancelled',
    });
  });

  it('deleting the file is a change like others', async () => {
    const environment = await open(async (root, files) => {
      const there = await readFile(path.join(root, 'src/low.js')).then(
        () => true,
        () => false,
      );
      return there ? runTests(root, files) : { outcome: 'completed', results: [] };
    });
    const grade = await gradeChanges(environment, task, change(null), options);
    expect(grade.tests.map((test) => test.after)).toEqual(['missing', 'missing']);
    expect(grade.components.similarity.score).toBeGreaterThan(0);
  });
});

describe('grading a patch', () => {
  it('gives what its changes give', async () => {
    const grade = await gradePatch(await open(), task, ORACLE, options);
    expect(grade).toMatchObject({ resolved: true, files: [{ path: 'src/low.js', ratio: 1 }] });
    expect(grade.reward).toBeCloseTo(1.2, 12);
  });

  it.each(['no diff at all', ORACLE.replace('-export', '-import'), ORACLE.replaceAll('src/low.js', '../low.js')])(
    'has similarity -1 and no test passed by it where it can not be applied (%#)',
    async (patch) => {
      const grade = await gradePatch(await open(), task, patch, options);
      expect(grade).toMatchObject({ resolved: false, components: { tests: { score: 0 }, similarity: { score: -1 } } });
      expect(grade.components.similarity.reason).toBeTruthy();
    },
  );

  it('earns nothing where it is empty', async () => {
    expect(await gradePatch(await open(), task, '', options)).toMatchObject({ reward: 0, resolved: false });
  });

  it('says where the oracle itself does not apply', async () => {
    const broken = makeTask({ ...task, patch: ORACLE.replace('-export', '-import') });
    await expect(gradePatch(await open(), broken, patchTo('x\n'), options)).rejects.toMatchObject({ kind: 'failed' });
  });
});

describe('replay', () => {
  const turns = [
    turn(['open', { path: 'src/low.js' }], ['run_tests', {}]),
    turn(['edit', { path: 'src/low.js', old: '? 1', new: '? 0' }]),
    turn(['run_tests', {}]),
    turn(['submit', {}]),
  ];
  async function record() {
    const environment = await open();
    const episode = await startEpisode(environment, task, limits);
    const recorded = [];
    for (const message of turns) {
      const { observations } = await episode.step(message);
      recorded.push({ message, observations: observations.map((observation) => observation.content) });
    }
    return { environment, recorded };
  }

  it('finds the record again', async () => {
    const { environment, recorded } = await record();
    const seen: number[] = [];
    const { turns: replayed, episode } = await replayTrajectory(environment, task, recorded, {
      limits,
      onTurn: ({ turn: number }) => seen.push(number),
    });
    expect(replayed.map(({ same, diff }) => [same, diff])).toEqual([
      [true, ''],
      [true, ''],
      [true, ''],
      [true, ''],
    ]);
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(episode).toBeNull();
    await expect(readFile(path.join(environment.opened.at(-1)!, 'src/low.js'))).rejects.toThrow();
  });

  it('stops at a turn and leaves the files there to look at', async () => {
    const { environment, recorded } = await record();
    const { turns: replayed, episode } = await replayTrajectory(environment, task, recorded, {
      limits,
      untilTurn: 2,
      keepOpen: true,
    });
    expect(replayed).toHaveLength(2);
    expect(await readFile(path.join(episode!.root, 'src/low.js'), 'utf8')).toBe(FIXED);
    await episode!.dispose();
  });

  it('shows where an observation differs from the record', async () => {
    const { environment, recorded } = await record();
    recorded[2] = { ...recorded[2], observations: ['1 passed, 1 failed'] };
    const { turns: replayed } = await replayTrajectory(environment, task, recorded, { limits });
    expect(replayed.map(({ same }) => same)).toEqual([true, true, false, true]);
    expect(replayed[2].diff).toBe('@@ -1 +1 @@\n-1 passed, 1 failed\n+2 passed, 0 failed');
  });

  it('does not take a last turn whose answer was not recorded for a difference', async () => {
    const { environment, recorded } = await record();
    recorded[3] = { ...recorded[3], observations: [] };
    const { turns: replayed } = await replayTrajectory(environment, task, recorded, { limits });
    expect(replayed[3]).toMatchObject({ same: true, diff: '' });
  });
});
