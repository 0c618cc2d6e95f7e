import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { writeTinyPolicy } from '../../../src/trainer/tinyPolicy.testing.js';
import { tinySettings } from '../fixtures/tinySettings.js';
import { activated, eventually, repoRoot } from './support.js';

describe('Train on This Repo', () => {
  let scratch: string;
  let earlier: ReadonlySet<string>;

  const set = async (values: Readonly<Record<string, unknown>>) => {
    for (const [name, value] of Object.entries(values)) {
      await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
    }
  };
  const ids = async () => (await (await activated()).store.runs()).map(({ summary }) => summary.id);
  const newRun = async () => {
    const { store } = await activated();
    const run = (await store.runs()).find(({ summary }) => !earlier.has(summary.id));
    assert.ok(run, 'there is a new run');
    return run;
  };

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'whetstone-train-'));
    await set(tinySettings(await writeTinyPolicy(scratch)));
    earlier = new Set(await ids());
  });
  after(async () => {
    await set(Object.fromEntries(Object.keys(tinySettings('')).map((name) => [name, undefined])));
    await rm(scratch, { recursive: true, force: true });
  });

  it('starts a training in a process of its own, with the settings of the editor', async () => {
    await vscode.commands.executeCommand('whetstone.train');
    const { trainings, store } = await activated();
    const run = await newRun();
    const handle = trainings.following.get(run.summary.folder);
    assert.ok(handle && handle.pid !== process.pid);
    const { settings } = await (await store.reader(run.repository.stateFolder, run.summary.id)).config();
    assert.deepEqual([settings.steps, settings.groupSize, settings.device], [1, 2, 'cpu']);
    await eventually(() => assert.notEqual(trainings.statusText, ''));
  });

  it('refuses a second training of the same repository in one line', async () => {
    const { trainings, store } = await activated();
    const [repository] = await store.repositories();
    await assert.rejects(trainings.start(repository), /A training already runs in this repository/);
  });

  it('stops it, and goes on with it', async () => {
    await vscode.commands.executeCommand('whetstone.stop');
    await eventually(async () => assert.equal((await newRun()).summary.status, 'stopped'));
    const { trainings } = await activated();
    await eventually(() => assert.equal(trainings.following.size, 0));
    const run = await newRun();
    await trainings.start(run.repository, run.summary.id);
    assert.ok(trainings.following.has(run.summary.folder));
  });

  it('ends with a run whose rollouts open in the editor', async () => {
    // Until the resumed process has written its first event, the record still says that it was stopped.
    const ended = async () => ['completed', 'failed'].includes((await newRun()).summary.status);
    await eventually(async () => assert.ok(await ended()), 220_000);
    assert.equal((await newRun()).summary.message, 'Training is completed.');
    const { store, trainings } = await activated();
    const run = await newRun();
    const headers = await (await store.reader(run.repository.stateFolder, run.summary.id)).headers();
    const rollout = headers.find(({ kind }) => kind === 'rollout');
    assert.ok(rollout);
    await vscode.commands.executeCommand('whetstone.openTrajectory', {
      kind: 'trajectory',
      header: rollout,
      parent: { kind: 'run', ...run },
    });
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.ok(text.includes('turn 1 · agent') && text.includes('Tests fail in'), text);
    await eventually(() => assert.equal(trainings.statusText, ''));
  }).timeout(240_000);
});

/** The suite leaves the user's files as they were. */
describe('The repository', () => {
  it('has no change but .whetstone/', async () => {
    const { execFileSync } = await import('node:child_process');
    assert.equal(
      execFileSync('git', ['status', '--porcelain', '--ignored'], { cwd: repoRoot() }).toString(),
      '!! .whetstone/\n',
    );
  });
});
