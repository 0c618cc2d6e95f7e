import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTask } from '../folderEnvironment.testing.js';
import { dropTasks } from './dropTasks.js';
import { readBuilt, writeTasks } from './taskStore.js';
import type { Check, TaskVerification } from './verifyTasks.js';

let stateFolder: string;
beforeAll(async () => {
  stateFolder = await mkdtemp(path.join(tmpdir(), 'whetstone-drop-'));
});
afterAll(() => rm(stateFolder, { recursive: true }));

const check = (name: string, wanted: Check['wanted'], isAsItMustBe: boolean): Check => ({
  name,
  wanted,
  score: 1,
  isAsItMustBe,
  reason: '1 of 1 failing tests fixed',
});

function verification(instance_id: string, checks: readonly Check[]): TaskVerification {
  const failures = checks.filter(({ isAsItMustBe }) => !isAsItMustBe).map(({ name }) => name);
  return { instance_id, tried: 2, caught: 2 - failures.length, failures, skipped: [], checks };
}

describe('tasks that failed their verification', () => {
  it('leave the store, counted in the funnel and each with its reason; the others stay', async () => {
    const counts = { found: 5, skipped: {}, invalid: { 'no test notices': 1 }, flaky: 0, kept: 4 };
    await writeTasks(stateFolder, 'key', {
      tasks: [
        ...['cheated', 'sound', 'broken'].map((instance_id) =>
          makeTask({ instance_id, FAIL_TO_PASS: ['a'], PASS_TO_PASS: ['b'] }),
        ),
        makeTask({ instance_id: 'old', FAIL_TO_PASS: ['a'], PASS_TO_PASS: ['b'] }, { source: 'history' }),
      ],
      funnel: {
        ...counts,
        sources: {
          injection: { ...counts, found: 4, kept: 3 },
          history: { ...counts, found: 1, invalid: {}, kept: 1 },
        },
      },
      quarantined: [],
      notes: ['A note.'],
    });
    await dropTasks(stateFolder, [
      verification('sound', [check('the oracle', 'all', true), check('tests deleted', 'nothing', true)]),
      verification('cheated', [check('tests deleted', 'nothing', false), check('tests renamed', 'nothing', false)]),
      verification('broken', [check('the oracle', 'all', false)]),
    ]);
    const { key, tasks, funnel, notes } = await readBuilt(stateFolder);
    expect(key).toBe('key');
    expect(tasks.map(({ instance_id }) => instance_id)).toEqual(['sound', 'old']);
    const invalid = { 'no test notices': 1, 'can be cheated': 1, 'the oracle is not graded as resolved': 1 };
    expect(funnel).toMatchObject({ found: 5, invalid, kept: 2 });
    expect(funnel.sources).toMatchObject({ injection: { invalid, kept: 1 }, history: { invalid: {}, kept: 1 } });
    expect(notes).toEqual([
      'A note.',
      'cheated was dropped: tests deleted (and 1 more): 1 of 1 failing tests fixed.',
      'broken was dropped: the oracle: 1 of 1 failing tests fixed.',
    ]);
  });
});
