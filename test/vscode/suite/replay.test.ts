import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { trajectoryUri } from '../../../src/extension/trajectory/trajectoryDocuments.js';
import { mending, RecordedRun } from '../fixtures/recordedRun.js';
import { activated, eventually, repoRoot } from './support.js';

describe('Replay of a trajectory', () => {
  let run: RecordedRun;
  let uri: vscode.Uri;
  let mendingUri: vscode.Uri;

  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-3', 1);
    const taskId = 'sum-adds__comparison-flip__sum.js_4';
    const uriOf = ({ id }: { id: string }) =>
      trajectoryUri({ stateFolder: run.stateFolder, runId: run.config.runId, trajectoryId: id });
    uri = uriOf(run.rollout(1, taskId, 1));
    mendingUri = uriOf(run.rollout(1, taskId, 0, mending));
    await run.end('completed');
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const replayed = () => {
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'whetstone-replay');
    assert.ok(editor, 'the result is shown');
    return editor.document;
  };

  const lensesOf = (result: vscode.Uri) =>
    vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', result);

  it('plays the turns in a fresh worktree and shows where they differ from the record', async () => {
    await vscode.commands.executeCommand('whetstone.replay', uri);
    const text = replayed().getText();
    assert.match(text, /of 2 replayed turns differ from the record/);
    assert.match(text, /── turn 1 · DIFFERS · open .*sum\.js/);
    // The record claims something else than what the file holds in the task's start tree.
    assert.match(text, /^\+.*export const sum = \(a, b\) => a - b;/m);
    assert.match(text, /^-<img src=x onerror=alert\(1\)>/m);
  });

  it('offers both sides of a turn that differs', async () => {
    const { replays } = await activated();
    const { uri: result } = replayed();
    const [recorded, observed] = replays.comparison(result, replays.diverging(result)[0]);
    assert.match((await vscode.workspace.openTextDocument(recorded)).getText(), /onerror/);
    assert.match((await vscode.workspace.openTextDocument(observed)).getText(), /a - b/);
    assert.ok((await lensesOf(result)).some(({ command }) => command?.title.includes('Compare with the record')));
  });

  it('stops at the turn that was asked for', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('whetstone.replayToTurn', uri, 1);
    const text = replayed().getText();
    assert.match(text, /to turn 1/);
    assert.ok(!text.includes('── turn 2'));
    const [lens] = await lensesOf(replayed().uri);
    assert.match(lens.command?.title ?? '', /No files changed by the end of turn 1/);
  });

  it('shows the files as they were at that turn, and leaves no worktree', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('whetstone.replayToTurn', mendingUri, 1);
    const { uri: result } = replayed();
    const [{ command }] = await lensesOf(result);
    assert.match(command?.title ?? '', /1 file changed by the end of turn 1/);
    const { replays } = await activated();
    const [, [[, before, after]]] = replays.changedFiles(result);
    const textOf = async (file: vscode.Uri) => (await vscode.workspace.openTextDocument(file)).getText();
    assert.equal(await textOf(before), 'export const sum = (a, b) => a - b;\n');
    assert.equal(await textOf(after), 'export const sum = (a, b) => a + b;\n');
    await vscode.commands.executeCommand(command!.command, ...(command!.arguments as unknown[]));
    await eventually(() => {
      const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
      assert.ok(
        inputs.some((label) => label.startsWith('Files changed by the end of turn 1')),
        inputs.join(),
      );
    });
    assert.deepEqual(await readdir(join(run.stateFolder, 'worktrees')), []);
  });
});
