import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { activated } from './support.js';

describe('A trajectory file of another system', () => {
  after(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('opens as a trajectory does, and is a run from then on', async () => {
    const { store } = await activated();
    const { extensionPath } = vscode.extensions.getExtension('whetstone.whetstone')!;
    const before = (await store.runs()).length;
    const file = vscode.Uri.file(join(extensionPath, 'test-fixtures', 'interop', 'swe-agent.traj'));
    await vscode.commands.executeCommand('whetstone.openTrajectoryFile', file);
    const { document } = vscode.window.activeTextEditor!;
    assert.equal(document.uri.scheme, 'whetstone-trajectory');
    assert.match(document.getText(), /── turn 1 · agent · /);
    assert.equal((await store.runs()).length, before + 1);
  });
});
