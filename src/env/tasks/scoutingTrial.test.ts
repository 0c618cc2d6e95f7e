import { describe, expect, it } from 'vitest';
import type { RepositoryEnvironment } from '../environment.js';
import type { TestReport } from '../testing/testRunner.js';
import type { AttemptSettings } from './attemptSettings.js';
import { bugCandidates } from './injection/candidates.js';
import { OPERATORS } from './injection/operators/index.js';
import { Quarantine } from './quarantine.js';
import { ScriptedWorkspaces } from './scriptedEnvironment.testing.js';
import { ScoutingTrial } from './scoutingTrial.js';
import { SoundRuns } from './soundRuns.js';

const TEXT = 'function f(x, y) {\n  return x < y;\n}\n';
const [BUG] = [...bugCandidates([{ path: 'src/a.js', text: TEXT }], OPERATORS, 1)];
const ALL = ['a.test.js', 'b.test.js', 'c.test.js'];

/** The run of some files, each with one test, of which those named fail, and one that passes. */
const runOf = (files: readonly string[], ...failing: string[]): TestReport => ({
  outcome: 'completed',
  output: '',
  durationMs: 10,
  results: files.flatMap((file) =>
    ['first', 'second'].map((name) => ({
      id: `${file} > ${name}`,
      file,
      name,
      status: name === 'first' && failing.includes(file) ? ('failed' as const) : ('passed' as const),
      message: '',
    })),
  ),
});

/** Close tests are those of a.test.js; `breaks` are the files whose first test fails in every broken tree. */
function trialWhere(breaks: readonly string[]) {
  const runs: string[][] = [];
  const known = new Set<string>();
  const workspaces = new ScriptedWorkspaces((files) => {
    runs.push([...files]);
    // The sound tree is run once for each choice of files, before its broken ones.
    const key = files.join();
    const isSound = files.length < ALL.length && !known.has(key);
    known.add(key);
    return runOf(files, ...(isSound ? [] : breaks));
  });
  const environment: RepositoryEnvironment = {
    ...workspaces.environment(ALL),
    repository: { name: 'library', headCommit: 'head' } as RepositoryEnvironment['repository'],
  };
  const baseline = { reports: [runOf(ALL)], testFiles: ALL, flaky: [], durationMs: 30, leftOut: [] };
  const settings: AttemptSettings = {
    seed: 1,
    validationRuns: 1,
    gradingMs: 10,
    timeoutMs: 1000,
    paths: { all: [], sources: [] } as unknown as AttemptSettings['paths'],
    isOutOfReach: () => false,
    quarantine: new Quarantine(),
  };
  const context = { environment, settings, soundRuns: new SoundRuns(environment, baseline, settings), date: '' };
  const trial = new ScoutingTrial(context, {
    filesFor: (_, noticing = []) => Promise.resolve([noticing[0] ?? 'a.test.js']),
    filesToScout: () => Promise.resolve(ALL),
  });
  return { trial, runs };
}

describe('a bug that the close tests do not notice', () => {
  it('is graded by tests that do, and so is the next one of its function, without another look', async () => {
    const { trial, runs } = trialWhere(['c.test.js']);
    expect(await trial.try(BUG)).toMatchObject({
      draft: { testFiles: ['c.test.js'], failToPass: ['c.test.js > first'], passToPass: ['c.test.js > second'] },
    });
    expect(runs).toContainEqual(ALL);
    const before = runs.length;
    expect(await trial.try(BUG)).toMatchObject({ draft: { testFiles: ['c.test.js'] } });
    expect(runs.slice(before)).not.toContainEqual(ALL);
    expect(runs.slice(before)).not.toContainEqual(['a.test.js']);
  });

  it('is no task where no other notices it either', async () => {
    const { trial } = trialWhere([]);
    expect(await trial.try(BUG)).toEqual({ invalid: 'no test notices' });
  });
});

it('a bug that the close tests notice costs no look at the others', async () => {
  const { trial, runs } = trialWhere(['a.test.js', 'c.test.js']);
  expect(await trial.try(BUG)).toMatchObject({ draft: { testFiles: ['a.test.js'] } });
  expect(runs).not.toContainEqual(ALL);
});
