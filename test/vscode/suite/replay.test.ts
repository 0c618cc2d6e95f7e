import assert from 'node:assert/strict';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { trajectoryUri } from '../../../src/extension/trajectory/trajectoryDocuments.js';
import { RecordedRun } from '../fixtures/recordedRun.js';
import { activated, repoRoot } from './support.js';

describe('Replay of a trajectory', () => {
  let run: RecordedRun;
  let uri: vscode.Uri;

  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-3', 1);
    const { id } = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 1);
    await run.end('completed');
    uri = trajectoryUri({ stateFolder: run.stateFolder, runId: run.config.runId, trajectoryId: id });
  });
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  const replayed = () => {
    const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'whetstone-replay');
    assert.ok(editor, 'the result is shown');
    return editor.document;
  };

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
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', result);
    assert.ok(lenses.some(({ command }) => command?.title.includes('Compare with the record')));
  });

  it('stops at the turn that was asked for', async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('whetstone.replayToTurn', uri, 1);
    const text = replayed().getText();
    assert.match(text, /to turn 1/);
    assert.ok(!text.includes('── turn 2'));
  });
});
