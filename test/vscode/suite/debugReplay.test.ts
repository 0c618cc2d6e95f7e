import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { trajectoryUri } from '../../../src/extension/trajectory/trajectoryDocuments.js';
import { mending, RecordedRun } from '../fixtures/recordedRun.js';
import { activated, eventually, repoRoot } from './support.js';

describe('A replay as a debug session', () => {
  let run: RecordedRun;
  let uri: vscode.Uri;
  const broken = 'export const sum = (a, b) => a - b;\n';

  before(async () => {
    run = await RecordedRun.create(repoRoot(), 'run-8', 1);
    const { id } = run.rollout(1, 'sum-adds__comparison-flip__sum.js_4', 0, mending);
    uri = trajectoryUri({ stateFolder: run.stateFolder, runId: run.config.runId, trajectoryId: id });
    await run.end('completed');
    await activated();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(async () => {
    await vscode.debug.stopDebugging();
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  const at = async (turn: number) => {
    const { replaySessions } = await activated();
    await eventually(() => {
      assert.ok(vscode.debug.activeStackItem instanceof vscode.DebugStackFrame, 'a frame is selected');
      assert.equal(replaySessions.place?.turn, turn);
    });
  };
  const isOpen = (title: string) =>
    eventually(() => {
      const labels = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
      assert.ok(
        labels.some((label) => label.startsWith(title)),
        labels.join(),
      );
    });
  const textOf = async (file: vscode.Uri) => (await vscode.workspace.openTextDocument(file)).getText();

  it('stops before the first turn, in the document of the trajectory', async () => {
    await vscode.commands.executeCommand('whetstone.stepThrough', uri);
    await at(0);
    await eventually(() => assert.equal(vscode.window.activeTextEditor?.document.uri.toString(), uri.toString()));
  });

  it('steps forwards to a turn, with the files as they are then and what they differ in', async () => {
    await vscode.commands.executeCommand('workbench.action.debug.stepOver');
    await at(1);
    const { replayFiles } = await activated();
    const [, sum] = replayFiles.getChildren().filter(({ name }) => ['range.js', 'sum.js'].includes(name));
    assert.equal(replayFiles.getTreeItem(sum).description, 'changed');
    for (const against of ['start', 'previous'] as const) {
      const [[, left, right], ...more] = replayFiles.comparison(against)!.files;
      assert.deepEqual([await textOf(left), await textOf(right), more], [broken, broken.replace('-', '+'), []]);
    }
    // The turn did what the oracle does.
    assert.deepEqual(replayFiles.comparison('oracle')!.files, []);
    await vscode.commands.executeCommand('whetstone.compareWithStart');
    await isOpen('start ↔ turn 1');
  });

  it('tells arguments, observation, recorded observation, tokens and reward as variables', async () => {
    const frame = vscode.debug.activeStackItem as vscode.DebugStackFrame;
    const ask = <Body>(command: string, args: object) =>
      Promise.resolve(frame.session.customRequest(command, args)) as Promise<Body>;
    const { scopes } = await ask<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: frame.frameId });
    assert.deepEqual(
      scopes.map(({ name }) => name),
      ['Call', 'Observation', 'Message', 'Files', 'Tokens', 'Reward'],
    );
    const evaluated = async (expression: string) => {
      const args = { expression, frameId: frame.frameId };
      return (await ask<DebugProtocol.EvaluateResponse['body']>('evaluate', args)).result;
    };
    assert.equal(await evaluated('arguments.old'), '"a - b"');
    assert.equal(await evaluated('recorded'), '"Edited."');
    assert.match(await evaluated('observed'), /^"Edited sum\.js:\\n- 1: export/);
    assert.equal(await evaluated('Reward.reward'), '1.2');
  });

  it('steps back to the files as they were', async () => {
    await vscode.commands.executeCommand('workbench.action.debug.stepBack');
    await at(0);
    const { replayFiles } = await activated();
    assert.deepEqual(replayFiles.comparison('start')!.files, []);
    // The bug is still there, which is how it differs from the oracle.
    await vscode.commands.executeCommand('whetstone.compareWithOracle');
    await isOpen('oracle ↔ start');
  });

  it('stops at a breakpoint that was set on any line of a turn', async () => {
    const document = await vscode.workspace.openTextDocument(uri);
    const line = document.getText().split('\n').indexOf('── turn 2 · agent · submit ──');
    vscode.debug.addBreakpoints([new vscode.SourceBreakpoint(new vscode.Location(uri, new vscode.Position(line, 0)))]);
    // The first turn differs from its record, which stops it too.
    await vscode.commands.executeCommand('workbench.action.debug.continue');
    await at(1);
    await vscode.commands.executeCommand('workbench.action.debug.continue');
    await at(2);
  });

  it('compares the files with those of the turn before', async () => {
    await vscode.commands.executeCommand('workbench.action.debug.stepBack');
    await at(1);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('whetstone.compareWithPrevious');
    // The first turn comes behind the start.
    await isOpen('start ↔ turn 1');
  });

  it('leaves no worktree when it ends', async () => {
    await vscode.debug.stopDebugging();
    await eventually(async () => assert.deepEqual(await readdir(join(run.stateFolder, 'worktrees')), []));
    const { replaySessions, replayFiles } = await activated();
    assert.equal(replaySessions.place, undefined);
    assert.deepEqual(replayFiles.getChildren(), []);
  });
});
