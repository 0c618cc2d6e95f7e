import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { writeTasks } from '../../../src/env/tasks/taskStore.js';
import { openRun } from '../../../src/trainer/run/runReader.js';
import { taskOf } from '../fixtures/workspace.js';
import { activated, repoRoot } from './support.js';

describe('A language model that another extension brings', () => {
  const models = () => vscode.lm.selectChatModels({ vendor: 'whetstone-tests' });
  const stateFolder = () => join(repoRoot(), '.whetstone');
  const funnel = { found: 1, skipped: {}, invalid: {}, flaky: 0, kept: 1, sources: {} };
  const evaluate = async (model: string) => {
    const { tasks } = await activated();
    const [task] = await tasks.getChildren();
    assert.ok(task, 'there is a task');
    await vscode.commands.executeCommand('whetstone.evaluateWithModel', task, model);
  };
  const newestRun = async () => {
    const { store } = await activated();
    store.refresh();
    const [run] = (await store.runs())
      .map(({ summary }) => summary)
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    assert.ok(run, 'there is a run');
    return run;
  };

  before(async () => {
    const tests = { FAIL_TO_PASS: ['sum.test.js > sum adds'], PASS_TO_PASS: ['sum.test.js > sum of nothing'] };
    const task = { ...taskOf(repoRoot(), 'sums__1'), ...tests };
    await writeTasks(stateFolder(), 'key', { tasks: [task], funnel, quarantined: [], notes: [] });
    const { tasks } = await activated();
    tasks.refresh();
    // The extension that brings them starts on its own time.
    for (let tries = 0; tries < 100 && (await models()).length === 0; tries += 1) await sleep(200);
  });
  after(async () => {
    await rm(join(stateFolder(), 'tasks'), { recursive: true });
    (await activated()).tasks.refresh();
  });

  it('is found', async () => {
    assert.deepEqual((await models()).map(({ id }) => id).sort(), ['exhausted', 'mender', 'talker']);
  });

  it('plays a task, whose episode is recorded as a run', async () => {
    await evaluate('mender');
    const { id, status, message } = await newestRun();
    assert.deepEqual([status, message], ['completed', 'Played by mender.']);
    const [trajectory] = await openRun(stateFolder(), id).headers();
    assert.deepEqual([trajectory?.taskId, trajectory?.resolved], ['sums__1', true]);
  });

  it('ends the evaluation where its quota is used up', async () => {
    await evaluate('exhausted');
    const { status, message } = await newestRun();
    assert.equal(status, 'failed');
    assert.match(message, /a quota is used up/);
  });

  it('is not asked where it calls no tools', async () => {
    const before = (await newestRun()).id;
    await evaluate('talker');
    assert.equal((await newestRun()).id, before);
  });
});
