import { describe, expect, it } from 'vitest';
import type { RepositoryEnvironment } from '../environment.js';
import type { TestResult } from '../testing/testRunner.js';
import type { TaskDraft } from './attempt.js';
import type { AttemptSettings } from './attemptSettings.js';
import { bugCandidates } from './injection/candidates.js';
import { OPERATORS } from './injection/operators/index.js';
import { tryBug, tryTogether } from './injectionTrial.js';
import { Quarantine } from './quarantine.js';
import { reportOf, ScriptedWorkspaces } from './scriptedEnvironment.testing.js';
import { SoundRuns } from './soundRuns.js';

const FILES = ['a.test.js'];
const TEXT = 'function f(x, y) {\n  return x < y;\n}\n\n\n\nfunction g(x, y) {\n  return x < y;\n}\n';
const [FIRST, SECOND] = [...bugCandidates([{ path: 'src/a.js', text: TEXT }], OPERATORS, 1)]
  .filter(({ operator }) => operator === 'boundary')
  .sort((a, b) => a.line - b.line);

type Statuses = Record<string, TestResult['status']>;

/** A sound tree in which all passes, and broken trees that give these results one after the other. */
function contextOf(...broken: Statuses[]) {
  const sound = reportOf({ a: 'passed', b: 'passed', c: 'passed' });
  const workspaces = new ScriptedWorkspaces(broken.map((statuses) => reportOf(statuses)));
  const repository = { name: 'library', headCommit: 'head' } as RepositoryEnvironment['repository'];
  const environment: RepositoryEnvironment = { ...workspaces.environment(FILES), repository };
  const baseline = { reports: [sound], testFiles: FILES, flaky: [], durationMs: 10, leftOut: [] };
  const settings: AttemptSettings = {
    seed: 1,
    validationRuns: 1,
    gradingMs: 1000,
    timeoutMs: 1000,
    paths: { all: [], sources: [] } as unknown as AttemptSettings['paths'],
    isOutOfReach: () => false,
    quarantine: new Quarantine(),
  };
  return { environment, settings, soundRuns: new SoundRuns(environment, baseline, settings), date: '' };
}

async function draftOf(bug: typeof FIRST, statuses: Statuses): Promise<TaskDraft> {
  const result = await tryBug(contextOf(statuses), bug, FILES);
  if (!('draft' in result)) throw new Error('no draft');
  return result.draft;
}

async function together(statuses: Statuses) {
  const first = await draftOf(FIRST, { a: 'failed', b: 'passed', c: 'passed' });
  const second = await draftOf(SECOND, { a: 'passed', b: 'failed', c: 'passed' });
  const proven = [
    { bug: FIRST, draft: first, breaks: first.failToPass },
    { bug: SECOND, draft: second, breaks: second.failToPass },
  ];
  return tryTogether(contextOf(statuses), proven);
}

describe('a bug by itself', () => {
  it('is a task that says which bug it is', async () => {
    expect(await draftOf(FIRST, { a: 'failed', b: 'passed', c: 'passed' })).toMatchObject({
      failToPass: ['a'],
      passToPass: ['b', 'c'],
      files: ['src/a.js'],
      label: { commit: 'head', kind: 'boundary' },
      bugs: [{ operator: 'boundary', file: 'src/a.js', line: 2, breaks: ['a'] }],
    });
  });
});

describe('bugs put in together', () => {
  it('are a task that records each of them with the tests that it fails', async () => {
    const result = await together({ a: 'failed', b: 'failed', c: 'passed' });
    expect(result).toMatchObject({
      draft: {
        failToPass: ['a', 'b'],
        label: { kind: 'several-bugs' },
        bugs: [
          { line: 2, breaks: ['a'] },
          { line: 8, breaks: ['b'] },
        ],
      },
    });
    const { patch } = (result as { draft: TaskDraft }).draft;
    expect(patch.match(/^\+ {2}return x < y;$/gm)).toHaveLength(2);
  });

  it('are no task where one hides what another does', async () => {
    expect(await together({ a: 'failed', b: 'passed', c: 'passed' })).toEqual({
      invalid: 'one of its bugs hides another',
    });
  });
});
